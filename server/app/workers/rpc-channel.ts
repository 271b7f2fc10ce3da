/** The methods that one process can call in another, by name. */
export type RpcMethods = Readonly<Record<string, { params: unknown; result: unknown }>>;

export type RpcHandlers<Methods extends RpcMethods> = {
  readonly [Name in keyof Methods]: (
    params: Methods[Name]['params'],
  ) => Methods[Name]['result'] | Promise<Methods[Name]['result']>;
};

interface Message {
  rpc: 'request' | 'result' | 'error';
  id: number;
  method: string;
  value: unknown;
}

interface PendingCall {
  resolve: (value: unknown) => void;
  reject: (reason: Error) => void;
}

/** Remote procedure calls between two processes, in both directions. */
export class RpcChannel<Remote extends RpcMethods, Local extends RpcMethods> {
  readonly #post: (message: unknown) => void;
  readonly #handlers: RpcHandlers<Local>;
  readonly #pending = new Map<number, PendingCall>();
  #lastId = 0;
  #closed = false;

  /** `post` sends a message to the other process, which passes it to its `receive`. */
  constructor(post: (message: unknown) => void, handlers: RpcHandlers<Local>) {
    this.#post = post;
    this.#handlers = handlers;
  }

  /** Calls a method of the other process. Rejects if the method fails, the process exits or `timeoutMs` has passed. */
  call<Name extends keyof Remote & string>(
    method: Name,
    params: Remote[Name]['params'],
    timeoutMs?: number,
  ): Promise<Remote[Name]['result']> {
    if (this.#closed) return Promise.reject(new Error('the other process has exited'));
    this.#lastId += 1;
    const id = this.#lastId;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const timedOut = () => reject(new Error(`no response within ${timeoutMs} ms`));
    const timeout = timeoutMs === undefined ? undefined : setTimeout(timedOut, timeoutMs);
    this.#pending.set(id, { resolve, reject });
    this.#send({ rpc: 'request', id, method, value: params });
    return promise.finally(() => {
      clearTimeout(timeout);
      this.#pending.delete(id);
    });
  }

  /** Handles a message from the other process. Ignores messages of others. */
  receive(message: unknown): void {
    if (typeof message !== 'object' || message === null || !('rpc' in message)) return;
    const received = message as Message;
    if (received.rpc === 'request') void this.#handle(received);
    else if (received.rpc === 'result') this.#pending.get(received.id)?.resolve(received.value);
    else this.#pending.get(received.id)?.reject(new Error(String(received.value)));
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
      this.#send({ rpc: 'result', id, method, value: await handler(value) });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#send({ rpc: 'error', id, method, value: reason });
    }
  }

  #send(message: Message): void {
    if (!this.#closed) this.#post(message);
  }
}
