mod batches;
mod likeness;
mod vectors;
