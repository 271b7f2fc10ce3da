/** What one process may ask another, by name. */
export type Questions = Readonly<Record<string, { ask: unknown; answer: unknown }>>;

/** How the questions of the other side are answered. */
export type Answers<Asked extends Questions> = {
  readonly [Name in keyof Asked]: (
    ask: Asked[Name]['ask'],
  ) => Asked[Name]['answer'] | Promise<Asked[Name]['answer']>;
};

interface Message {
  link: 'question' | 'answer' | 'failure';
  number: number;
  name: string;
  value: unknown;
}

interface Pending {
  resolve: (value: unknown) => void;
  reject: (reason: Error) => void;
}

/** Questions and answers between two processes, in both directions over one channel. */
export class Link<Asks extends Questions, Answered extends Questions> {
  readonly #post: (message: unknown) => void;
  readonly #answers: Answers<Answered>;
  readonly #pending = new Map<number, Pending>();
  #number = 0;
  #closed = false;

  /** `post` brings a message to the other side, where `receive` is given it. */
  constructor(post: (message: unknown) => void, answers: Answers<Answered>) {
    this.#post = post;
    this.#answers = answers;
  }

  /** Rejects with the other side's words when it fails there, and when the other side is gone or silent for `patienceMs`. */
  ask<Name extends keyof Asks & string>(
    name: Name,
    value: Asks[Name]['ask'],
    patienceMs?: number,
  ): Promise<Asks[Name]['answer']> {
    if (this.#closed) return Promise.reject(new Error('the other process is gone'));
    this.#number += 1;
    const number = this.#number;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const late = () => reject(new Error(`no answer within ${patienceMs} ms`));
    const alarm = patienceMs === undefined ? undefined : setTimeout(late, patienceMs);
    this.#pending.set(number, { resolve, reject });
    this.#send({ link: 'question', number, name, value });
    return promise.finally(() => {
      clearTimeout(alarm);
      this.#pending.delete(number);
    });
  }

  /** Takes a message of the channel; those of others are left alone. */
  receive(message: unknown): void {
    if (typeof message !== 'object' || message === null || !('link' in message)) return;
    const told = message as Message;
    if (told.link === 'question') void this.#answer(told);
    else if (told.link === 'answer') this.#pending.get(told.number)?.resolve(told.value);
    else this.#pending.get(told.number)?.reject(new Error(String(told.value)));
  }

  /** The other side is gone: nothing is answered any more. */
  close(): void {
    this.#closed = true;
    for (const { reject } of this.#pending.values()) reject(new Error('the other process is gone'));
  }

  async #answer({ number, name, value }: Message): Promise<void> {
    try {
      const answer = Object.hasOwn(this.#answers, name) ? this.#answers[name] : undefined;
      if (answer === undefined) throw new Error(`nobody here answers ${name}`);
      this.#send({ link: 'answer', number, name, value: await answer(value) });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#send({ link: 'failure', number, name, value: reason });
    }
  }

  #send(message: Message): void {
    if (!this.#closed) this.#post(message);
  }
}
