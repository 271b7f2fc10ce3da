import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fingerprint, type RecordedExample, type RecordedResponse, readExample } from './example.ts';

/** Maximum number of different responses to one request. Polls of a long task have more. */
const maxResponses = 50;

/** A folder of recorded examples: files `<operationId>.<fingerprint>.json` and media files. */
export class ExamplesFolder {
  readonly #folder: string;
  readonly #examples = new Map<string, RecordedExample>();
  /** Number of responses of an example returned so far. */
  readonly #positions = new Map<RecordedExample, number>();
  #written = Promise.resolve();

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Reads a folder. `create` creates a missing one.
   *
   * @throws Error that names the folder or the file, and the problem
   */
  static async open(folder: string, { create = false } = {}): Promise<ExamplesFolder> {
    const opened = new ExamplesFolder(folder);
    if (create) await mkdir(folder, { recursive: true });
    const names = await readdir(folder).catch(() => {
      throw new Error(`--examples ${folder} is not a readable folder`);
    });
    for (const name of names.filter((one) => one.endsWith('.json')).toSorted()) {
      try {
        const example = readExample(await readFile(join(folder, name), 'utf8'));
        opened.#examples.set(fingerprint(example.request), example);
      } catch (error) {
        throw new Error(
          `--examples ${join(folder, name)}: ${error instanceof Error ? error.message : String(error)}`,
          {
            cause: error,
          },
        );
      }
    }
    return opened;
  }

  /** Stores a response to a request. Media are stored in a separate file. */
  async store(
    metadata: Omit<RecordedExample, 'answers'>,
    response: RecordedResponse,
    media?: Buffer,
  ): Promise<void> {
    const hash = fingerprint(metadata.request);
    const example = this.#examples.get(hash) ?? { ...metadata, answers: [] };
    this.#examples.set(hash, example);
    const { answers } = example;
    const name = `${metadata.operation}.${hash}`;
    if (response.media !== undefined && media !== undefined)
      response.media.file = `${name}-${answers.length + 1}.${response.media.type.split('/')[1]?.replace(/\W/g, '-')}`;
    // A poll without a change.
    const isRepeated =
      response.media === undefined && JSON.stringify(answers.at(-1)) === JSON.stringify(response);
    if (isRepeated || answers.length >= maxResponses) return;
    answers.push(response);
    this.#written = this.#written.then(async () => {
      if (response.media?.file !== undefined && media !== undefined)
        await writeFile(join(this.#folder, response.media.file), media);
      await writeFile(join(this.#folder, `${name}.json`), `${JSON.stringify(example, null, 2)}\n`);
    });
    await this.#written;
  }

  /** Returns the next response to the same request, or else the last success of the same operation and path. */
  next(metadata: Omit<RecordedExample, 'answers'>): RecordedResponse | undefined {
    const exact = this.#examples.get(fingerprint(metadata.request));
    if (exact === undefined) {
      const similar = [...this.#examples.values()].filter(
        ({ operation, request: { path, events } }) =>
          operation === metadata.operation &&
          path === metadata.request.path &&
          events === metadata.request.events,
      );
      return similar.flatMap(({ answers }) => answers).findLast(({ status }) => status < 300);
    }
    const position = this.#positions.get(exact) ?? 0;
    this.#positions.set(exact, position + 1);
    return exact.answers[Math.min(position, exact.answers.length - 1)];
  }

  /** Reads the media of a response. Undefined if they were not stored. */
  async media({ media }: RecordedResponse): Promise<Buffer | undefined> {
    if (media?.file === undefined) return undefined;
    return readFile(join(this.#folder, basename(media.file)));
  }
}
