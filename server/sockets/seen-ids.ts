/** What is remembered of ids, in bytes; the oldest are forgotten first, so that a client cannot fill the memory. */
const remembered = 1024 * 1024;
/** What an id takes beside its characters. */
const overhead = 64;

/** The ids that a connection has used. */
export class SeenIds {
  readonly #ids = new Set<string>();
  #size = 0;

  /** Remembers an id. False when it was used before. */
  add(id: string): boolean {
    if (this.#ids.has(id)) return false;
    this.#ids.add(id);
    this.#size += id.length + overhead;
    for (const oldest of this.#ids) {
      if (this.#size <= remembered) break;
      this.#ids.delete(oldest);
      this.#size -= oldest.length + overhead;
    }
    return true;
  }
}
