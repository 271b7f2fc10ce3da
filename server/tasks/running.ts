/** Keeps a work among those that a stop waits for until it is over, and gives what it gives. */
export async function among<T>(running: Set<Promise<unknown>>, work: Promise<T>): Promise<T> {
  running.add(work);
  try {
    return await work;
  } finally {
    running.delete(work);
  }
}
