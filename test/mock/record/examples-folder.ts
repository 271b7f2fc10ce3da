import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fingerprint, type RecordedAnswer, type RecordedExample, readExample } from './example.ts';

/** So many different answers to one request are kept; polls of a long task have more. */
const mostAnswers = 50;

/** The recorded examples: files `<operationId>.<fingerprint>.json` in one folder, media beside them. */
export class ExamplesFolder {
  readonly #folder: string;
  readonly #examples = new Map<string, RecordedExample>();
  /** How many answers of an example were given. */
  readonly #turns = new Map<RecordedExample, number>();
  #written = Promise.resolve();

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Reads a folder; `make` makes one that is not there.
   *
   * @throws Error that names the folder or the file, and what is wrong with it
   */
  static async open(folder: string, { make = false } = {}): Promise<ExamplesFolder> {
    const opened = new ExamplesFolder(folder);
    if (make) await mkdir(folder, { recursive: true });
    const names = await readdir(folder).catch(() => {
      throw new Error(`--examples ${folder} is no folder that can be read`);
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

  /** Keeps an answer as the next one to its request; bytes of its media go into a file of their own. */
  async keep(about: Omit<RecordedExample, 'answers'>, answer: RecordedAnswer, media?: Buffer): Promise<void> {
    const mark = fingerprint(about.request);
    const example = this.#examples.get(mark) ?? { ...about, answers: [] };
    this.#examples.set(mark, example);
    const { answers } = example;
    const name = `${about.operation}.${mark}`;
    if (answer.media !== undefined && media !== undefined)
      answer.media.file = `${name}-${answers.length + 1}.${answer.media.type.split('/')[1]?.replace(/\W/g, '-')}`;
    // A poll that tells nothing new.
    const same = answer.media === undefined && JSON.stringify(answers.at(-1)) === JSON.stringify(answer);
    if (same || answers.length >= mostAnswers) return;
    answers.push(answer);
    this.#written = this.#written.then(async () => {
      if (answer.media?.file !== undefined && media !== undefined)
        await writeFile(join(this.#folder, answer.media.file), media);
      await writeFile(join(this.#folder, `${name}.json`), `${JSON.stringify(example, null, 2)}\n`);
    });
    await this.#written;
  }

  /** The next answer to this very request; when there is none, the last success of its operation at the same path. */
  next(about: Omit<RecordedExample, 'answers'>): RecordedAnswer | undefined {
    const exact = this.#examples.get(fingerprint(about.request));
    if (exact === undefined) {
      const like = [...this.#examples.values()].filter(
        ({ operation, request: { path, events } }) =>
          operation === about.operation && path === about.request.path && events === about.request.events,
      );
      return like.flatMap(({ answers }) => answers).findLast(({ status }) => status < 300);
    }
    const turn = this.#turns.get(exact) ?? 0;
    this.#turns.set(exact, turn + 1);
    return exact.answers[Math.min(turn, exact.answers.length - 1)];
  }

  /** The bytes of an answer's media; undefined when they were not kept. */
  async media({ media }: RecordedAnswer): Promise<Buffer | undefined> {
    if (media?.file === undefined) return undefined;
    return readFile(join(this.#folder, basename(media.file)));
  }
}
