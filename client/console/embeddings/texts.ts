import { computed, signal } from '@preact/signals';

export interface TextDraft {
  id: number;
  text: string;
}

/** The texts of an embedding request while they are edited. */
export class TextDrafts {
  readonly drafts = signal<readonly TextDraft[]>([]);
  /** The texts that are not empty. */
  readonly texts = computed(() =>
    this.drafts.value.map(({ text }) => text.trim()).filter((text) => text !== ''),
  );
  #nextId = 0;

  constructor(texts: readonly string[]) {
    this.insert(0, texts);
  }

  /** Inserts texts at an index. Returns the id of the last one. */
  insert(index: number, texts: readonly string[]): number {
    const added = texts.map((text) => {
      this.#nextId += 1;
      return { id: this.#nextId, text };
    });
    this.drafts.value = this.drafts.peek().toSpliced(index, 0, ...added);
    return this.#nextId;
  }

  edit(id: number, text: string): void {
    this.drafts.value = this.drafts.peek().map((draft) => (draft.id === id ? { id, text } : draft));
  }

  /** Removes a text. The last one becomes empty instead. */
  remove(id: number): void {
    const rest = this.drafts.peek().filter((draft) => draft.id !== id);
    if (rest.length > 0) this.drafts.value = rest;
    else this.edit(id, '');
  }
}
