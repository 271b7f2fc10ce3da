import { signal } from '@preact/signals';
import type { Contract } from '../contract/contract.ts';
import { type ImageBlock, type InputBlock, imageBlock } from './conversation.ts';

/** An image that is sent with the next message. */
export interface Attachment {
  name: string;
  block: ImageBlock;
}

/** Images of the next message. */
export class Attachments {
  readonly files = signal<readonly Attachment[]>([]);
  readonly problem = signal<string | undefined>(undefined);
  /** Media types that the contract allows. */
  readonly types: readonly string[];

  constructor(contract: Contract) {
    const { enum: types = [] } = contract.at(contract.component('Base64ImageSource'), ['media_type']) ?? {};
    this.types = types.map(String);
  }

  /** Reads image files. Files of other types are rejected with a message. */
  async add(files: readonly File[]): Promise<void> {
    const rejected = files.find(({ type }) => !this.types.includes(type));
    this.problem.value = rejected && `${rejected.name} is not an image of a supported type.`;
    const accepted = files.filter(({ type }) => this.types.includes(type));
    const added = await Promise.all(
      accepted.map(async (file) => ({
        name: file.name,
        block: imageBlock(file.type, await readBase64(file)),
      })),
    );
    this.files.value = [...this.files.peek(), ...added];
  }

  remove(file: Attachment): void {
    this.files.value = this.files.peek().filter((entry) => entry !== file);
  }

  removeAll(): void {
    this.files.value = [];
  }

  /** Shows the images of a message again, to edit it. */
  restore(content: readonly InputBlock[]): void {
    this.files.value = content
      .filter((block): block is ImageBlock => block.type === 'image')
      .map((block, index) => ({ name: `image ${index + 1}`, block }));
  }
}

async function readBase64(file: File): Promise<string> {
  const reader = new FileReader();
  const loaded = new Promise((resolve, reject) => {
    reader.addEventListener('load', resolve);
    reader.addEventListener('error', () => reject(new Error(`${file.name} could not be read.`)));
  });
  reader.readAsDataURL(file);
  await loaded;
  // The result is a data URL, a text.
  return (reader.result as string).replace(/^[^,]*,/, '');
}
