use crate::check;
use expect_test::expect;

#[test]
fn smoke() {
    check(
        "teach retry limit is 3\nteach --tag net retry limit is 5\nlist\nlist --all\nundo\nlist --all\nundo\nlist\nhistory m1\nhistory m2\nteach --user prefer tabs over spaces\nflag m3 nothere\nlist\nrestore m3\nlist\nsearch tabs\nteach secret {token}\nteach --redact secret {token} in the text\nteach password = \"{password}\"\nteach --tag {key} xyz\npurge m1\nforget m2\nundo\nundo\nundo\nundo\ndoctor\nbackup\nbackups\ndamage m3\nlist\nshow m3\nmaintain",
        expect![""],
    );
}
