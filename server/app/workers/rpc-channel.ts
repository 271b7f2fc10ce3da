/** The methods that one process can call in another, by name. */
export type RpcMethods = Readonly<Record<string, (...args: never[]) => unknown>>;

export type RpcHandlers<Methods extends RpcMethods> = {
  readonly [Name in keyof Methods]: (
    ...args: Parameters<Methods[Name]>
  ) => ReturnType<Methods[Name]> | Promise<ReturnType<Methods[Name]>>;
};

interface Message {
  rpc: 'request' | 'result' | 'error';
  id: number;
  method: string;
  /** Arguments, result or error message. */
  value: unknown;
}

/** Remote procedure calls between two processes, in both directions. */
export class RpcChannel<Remote extends RpcMethods, Local extends RpcMethods> {
  readonly #post: (message: unknown) => void;
  readonly #handlers: RpcHandlers<Local>;
  readonly #pending = new Map<number, PromiseWithResolvers<unknown>>();
  #lastId = 0;
  #closed = false;

  /** `post` sends a message to the other process, which passes it to its `receive`. */
  constructor(post: (message: unknown) => void, handlers: RpcHandlers<Local>) {
    this.#post = post;
    this.#handlers = handlers;
  }

  /** Calls a method of the other process. Rejects if the method fails or the process exits. */
  call<Name extends keyof Remote & string>(
    method: Name,
    ...args: Parameters<Remote[Name]>
  ): Promise<ReturnType<Remote[Name]>> {
    return this.callWithin(undefined, method, ...args);
  }

  /** As `call`, but also rejects after `timeoutMs`. */
  async callWithin<Name extends keyof Remote & string>(
    timeoutMs: number | undefined,
    method: Name,
    ...args: Parameters<Remote[Name]>
  ): Promise<ReturnType<Remote[Name]>> {
    if (this.#closed) throw new Error('the other process has exited');
    this.#lastId += 1;
    const id = this.#lastId;
    const pending = Promise.withResolvers<unknown>();
    const timedOut = () => pending.reject(new Error(`no response within ${timeoutMs} ms`));
    const timeout = timeoutMs === undefined ? undefined : setTimeout(timedOut, timeoutMs);
    this.#pending.set(id, pending);
    this.#send({ rpc: 'request', id, method, value: args });
    try {
      return (await pending.promise) as ReturnType<Remote[Name]>;
    } finally {
      clearTimeout(timeout);
      this.#pending.delete(id);
    }
  }

  /** Handles a message from the other process. Ignores messages of others. */
  receive(message: unknown): void {
    if (typeof message !== 'object' || message === null || !('rpc' in message)) return;
    const received = message as Message;
    const pending = this.#pending.get(received.id);
    if (received.rpc === 'request') void this.#handle(received);
    else if (received.rpc === 'result') pending?.resolve(received.value);
    else pending?.reject(new Error(String(received.value)));
  }

  /** Rejects all calls, because the other process has exited. */
  close(): void {
    this.#closed = true;
    for (const { reject } of this.#pending.values()) reject(new Error('the other process has exited'));
  }

  async #handle({ id, method, value }: Message): Promise<void> {
    try {
      const handler = Object.hasOwn(this.#handlers, method) ? this.#handlers[method] : undefined;
      if (handler === undefined) throw new Error(`unknown method ${method}`);
      this.#send({ rpc: 'result', id, method, value: await handler(...(value as never)) });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#send({ rpc: 'error', id, method, value: reason });
    }
  }

  #send(message: Message): void {
    if (!this.#closed) this.#post(message);
  }
}
