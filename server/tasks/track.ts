/** Adds a promise to a set until it settles. Returns its result. */
export async function track<T>(running: Set<Promise<unknown>>, promise: Promise<T>): Promise<T> {
  running.add(promise);
  try {
    return await promise;
  } finally {
    running.delete(promise);
  }
}
