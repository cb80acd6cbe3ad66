//! The cue table: phrases that instruct the reader, with the reason that the user is shown.

/// Phrases that instruct the reader, and the reason to give. They are in the notation of
/// [`crate::phrase_table`]: `|` separates alternatives of one word, `^` begins a sentence, `*` and `**` are
/// gaps, `@url`, `@email` and `@pipe` are placeholders for a web address, a mail address and a shell pipe.
pub(crate) struct InstructionCue {
    pub reason: &'static str,
    pub phrases: &'static [&'static str],
}

/// The first row that matches gives the reason.
pub(crate) const INSTRUCTION_CUES: &[InstructionCue] = &[
    InstructionCue {
        reason: "asks to set earlier instructions aside",
        phrases: &[
            "ignore|disregard|forget|override|bypass|neglect|discard * previous|prior|above|earlier|preceding|following|your|system|initial|original * instructions|instruction|rules|guidelines|prompt|prompts|directions|directives|constraints|safeguards|restrictions|policies|policy|programming|training",
            "ignore|disregard|forget|override * instructions|rules|guidelines|directives|orders above|before|you|given|so",
            "ignore|disregard|forget all|any|every|these|those * instructions|directives|orders",
            "forget everything|all ** before|above|previously|learned|told|know",
            "don't|not|never listen|follow|obey|adhere * previous|prior|earlier|above|your|any|system|their|to * information|instructions|instruction|rules|guidelines|policies|orders",
            "stop everything",
            "new instructions|rules :",
            "do|does|need not have|need to abide|obey|follow ** rules|guidelines|policies|restrictions",
            "you * not bound|restricted|limited by",
            "must obey all|every|my|any",
        ],
    },
    InstructionCue {
        reason: "gives the reader another role",
        phrases: &[
            "from now on * you are|will|have|must|reply|act|answer|respond",
            "from now on * you|reply|act ** mode|as",
            "you are now|going ** act|pretend|be|play|immerse|in",
            "you are about|going to immerse|act|pretend|become",
            "you are|will|must|should|shall * pretend|roleplay|role-play to|as",
            "do anything now",
            "act|behave|respond|answer as|like ** dan|jailbroken|unrestricted|unfiltered|uncensored|evil",
            "simulate an|a ai|assistant|model|chatbot",
            "developer|dan|god|jailbreak|unrestricted mode enabled|activated|on",
            "you are special|unrestricted|unfiltered|uncensored|free",
            "can do anything",
        ],
    },
    InstructionCue {
        reason: "asks for hidden instructions",
        phrases: &[
            "print|reveal|output|repeat|display|leak|dump|recite|show|tell|write * your|above|previous|hidden|preceding * instructions|prompt|rules|guidelines|directives",
            "print|reveal|output|repeat|display|leak|dump|recite out|all * instructions|directives",
        ],
    },
    InstructionCue {
        reason: "speaks to the reader as a model with a task",
        phrases: &[
            "message|note|instruction|instructions ** to|for you * gpt|gpt-4|gpt-4o|chatgpt|claude|gemini|llama|assistant|ai|agent|model",
            "attention|hello|hey|dear|hi ai|assistant|agent|agents|model|llm|claude|chatgpt|copilot|gpt",
            "before you can solve|continue|finish|complete|proceed ** do|follow|read|run|execute|send",
            "ai|llm|language|coding agents|models|assistants|assistant|agent|model reading|that|who|which|must|should ** read|reads|reading|send|run|execute|must|follow",
            "^ todo : please|send|email|transfer|forward|invite|get|make|create|say|visit|post|update|change|reserve|upload ** my|me|user|user's|account|email|emails|reservation|calendar|password|money|transaction|link|channel|@url|@email",
            "just|only say|print|reply|output|respond|answer ** :",
        ],
    },
    InstructionCue {
        reason: "asks to run code fetched from elsewhere",
        phrases: &[
            "curl|wget|iwr|irm|fetch ** @pipe sh|bash|zsh|python|python3|node|perl|ruby|iex|sudo|source",
            "bash|sh|zsh|source|eval * <(curl|<(wget|$(curl|$(wget|\"$(curl|\"$(wget|curl|wget",
            "eval|exec|source * curl|wget",
            "download ** and|then run|execute|install|source|launch",
            "run|execute|install * script|binary|command|code|payload * from|at|hosted @url",
            "run|execute|follow * commands|instructions|script|code * from|at|in|found|on @url|webpage|website|page|issue|url|link",
            "npx|pip|uvx|bunx ** @url",
        ],
    },
    InstructionCue {
        reason: "asks to send data out",
        phrases: &[
            "exfiltrate|exfil",
            "send|email|forward|upload|post|transmit|leak|copy|submit|share|mail|push|report|deliver ** secrets|secret|credentials|passwords|password|keys|key|tokens|token|env|environment|history|files|file|contents|content|source|code|data|information|money|emails|messages|conversation|transaction|bill ** to|at|with @url|@email|me|my|account|attacker|external|us|outside|anyone",
            "send|email|forward|upload|post|transmit|leak|mail * to @email|@url",
            "send|transfer|wire * transaction|money|$|usd|eur|funds|bitcoin|crypto|amount ** to|account",
            "transfer * in|total|all ** to ** account|wallet",
            "curl|wget ** -d|--data|-f|--data-binary|-t|--upload-file|--post-file|-x ** @url ** env|key|token|secret|$(cat|@.env|id_rsa",
            "curl|wget ** env|.env|@.env|id_rsa|$(cat|$(env)|printenv|secrets ** @url",
            "cat|printenv|env ** @pipe curl|nc|wget|netcat",
            "requests.post|fetch|axios.post|http.client ** os.environ|process.env|id_rsa|clipboard|keystroke|password",
        ],
    },
    InstructionCue {
        reason: "asks to widen permissions",
        phrases: &[
            "chmod|icacls * 777|0777|a+rwx|ugo+rwx|+s|u+s|4755|everyone",
            "--dangerously-skip-permissions|--dangerously-bypass-approvals-and-sandbox|--yolo|dangerouslyskippermissions|bypasspermissions",
            "disable|bypass|skip|ignore|circumvent * permission|permissions|approval|approvals|safety|security * prompt|prompts|check|checks|mode|system|filters|measures|policies",
            "disable|bypass|escape|leave * your|agent's|the agent sandbox|restrictions|safeguards|guardrails",
            "auto-approve|autoapprove|approve|accept|allow * all|every|any * command|commands|tool|tools|calls|requests|permissions|actions without|automatically",
            "automatically approve|accept|allow * all|every|any",
            "add ** nopasswd|sudoers|allowedtools|permissions.allow|authorized_keys",
            "grant|give * yourself|me|him|attacker|everyone ** access|permission|permissions|admin|root|rights",
            "without asking|telling|informing|notifying|alerting * me|user|anyone|owner|human|permission|confirmation",
            "don't|not|never tell|inform|notify|alert|mention|reveal|show * user|users|anyone|human|owner * about|that|of|this|it|you",
            "invite|add * user ** to * workspace|organisation|organization|repository|repo|channel|team ** admin|owner|email|and|@email",
        ],
    },
    InstructionCue {
        reason: "asks to add a remote or another source of code",
        phrases: &[
            "git remote add|set-url",
            "remote add|set-url ** @url",
            "add ** remote ** @url",
            "git push|fetch|pull|clone ** @url ** and|then|run|execute|force|--force|--mirror",
            "git push ** @url",
            "git config ** core.hookspath|core.sshcommand|credential.helper|url.",
            "set|change|point|switch|use ** registry|index-url|index ** @url",
        ],
    },
    InstructionCue {
        reason: "asks to plant code or text in what the reader writes",
        phrases: &[
            "following|subsequent|below|next|provided|given|this * code|snippet|script|excerpt * block|snippet|section|excerpt|fragment|segment|piece|chunk|part|component|portion ** your|you",
            "your|you ** following|subsequent|below|next|provided code|snippet|script * block|snippet|section|excerpt|fragment|segment|piece|chunk|part|component|portion|:",
            "following|subsequent|below|next code|snippet|script|excerpt * block|snippet|section|excerpt|fragment|segment|: ** answer|response|solution|reply|explanation|elucidation",
            "add|insert|include|integrate|incorporate|embed|promote|mention|place|suggest|recommend|advertise ** link|links|@url|ad|advert|advertisement|headline|virus|scam|malware|brand|newsletter|claim|clickbait ** your|the answer|response|reply|message|output",
            "your answer|response|reply|message|output ** link|@url|virus|scam|malware|advertise|promote|promoting|promotes|newsletter|false|misleading|sensational|clickbait",
        ],
    },
];
