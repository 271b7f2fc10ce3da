import type {
  ContinueTaskInput,
  InferenceClientEvent,
  InferenceServerEvent,
  RunTaskParameters,
  SpeechUsage,
} from '../../generated/events.ts';
import { TaskFailedError, UnigateError } from '../errors.ts';
import type { EventSocket } from '../sockets/event-socket.ts';
import { newId } from '../sockets/new-id.ts';
import { ReceiveBuffers } from '../sockets/receive-buffers.ts';

/** How a task speaks; `voice` is required. */
export type InferenceTaskOptions = Omit<RunTaskParameters, 'text_type'>;

/** One text on an inference socket. Once it has failed, everything throws why. */
export class InferenceTask {
  readonly id = newId();
  /** The events as they come, without the audio; one loop at a time. */
  readonly events: AsyncIterable<InferenceServerEvent>;
  readonly #socket: EventSocket;
  readonly #buffers: ReceiveBuffers<InferenceServerEvent>;
  readonly #started: Promise<void>;
  readonly #ended: Promise<void>;
  #start = () => {};
  #end: (error?: Error) => void = () => {};
  #finished: Promise<void> | undefined;
  #over = false;
  #usage: SpeechUsage | undefined;

  /** Made by `InferenceConnection.task`. */
  constructor(socket: EventSocket) {
    this.#socket = socket;
    this.#ended = new Promise((resolve, reject) => {
      this.#end = (error) => (error ? reject(error) : resolve());
    });
    this.#ended.catch(() => {});
    this.#started = Promise.race([
      this.#ended,
      new Promise<void>((resolve) => {
        this.#start = resolve;
      }),
    ]);
    this.#buffers = new ReceiveBuffers<InferenceServerEvent>({
      holdable: socket.holdable,
      hold: (held) => socket.hold(this, held),
      overflow: () => socket.fail(new UnigateError('The audio comes faster than it is read.')),
    });
    this.events = this.#buffers.events;
  }

  /** Whether it has finished or failed. */
  get over(): boolean {
    return this.#over;
  }

  /** What was billed so far; undefined as long as nothing was reported. */
  get usage(): SpeechUsage | undefined {
    return this.#usage;
  }

  /** Adds text. Resolves when there is room for more; it need not be awaited. */
  send(text: string): Promise<void> {
    return this.#continue({ text });
  }

  /** Speaks the text that waits. */
  flush(): Promise<void> {
    return this.#continue({ flush: true });
  }

  /** No more text: the rest is spoken, then `audio` and `events` end. */
  finish(): Promise<void> {
    if (!this.#finished) {
      this.#finished = this.#send('finish-task', { input: {} });
      this.#socket.owe();
    }
    return this.#finished;
  }

  /** The audio in order, as one file; one loop at a time. */
  audio(): AsyncIterable<Uint8Array> {
    return this.#buffers.audio;
  }

  /**
   * Finishes the task unless that is done, waits for its end and gives the final usage. Audio that no loop is reading
   * by then is dropped. The socket stays open.
   */
  async close(): Promise<SpeechUsage | undefined> {
    void this.finish();
    this.#buffers.awaitEnd();
    await this.#ended;
    return this.#usage;
  }

  /** Sends `run-task`; resolves when it has started. For the connection. */
  async run(model: string, options: InferenceTaskOptions): Promise<void> {
    this.#socket.owe();
    const parameters: RunTaskParameters = { text_type: 'PlainText', ...options };
    const kind = { task_group: 'audio', task: 'tts', function: 'SpeechSynthesizer' } as const;
    void this.#send('run-task', { ...kind, model, parameters, input: {} });
    await this.#started;
  }

  /** Takes an event of this task. For the connection. */
  takeEvent(event: InferenceServerEvent, size: number): void {
    this.#buffers.pushEvent(event, size);
    const { header, payload } = event;
    // It counts from the start of the task, so a smaller figure is an older one.
    if ('usage' in payload && payload.usage && unitsOf(payload.usage) >= unitsOf(this.#usage))
      this.#usage = payload.usage;
    if (header.event === 'task-started') {
      this.#socket.settle();
      this.#start();
    } else if (header.event === 'task-finished') {
      this.end();
    } else if (header.event === 'task-failed') {
      const { error_code: code, error_message: message, task_id: taskId } = header;
      this.end(new TaskFailedError({ code, message, taskId, requestId: this.#socket.requestId }));
    }
  }

  /** Takes a binary frame. For the connection. */
  takeAudio(bytes: Uint8Array): void {
    this.#buffers.pushAudio(bytes);
  }

  /** For the connection. */
  end(cause?: Error): void {
    if (this.#over) return;
    this.#over = true;
    if (this.#finished) this.#socket.settle();
    this.#finished ??= Promise.resolve();
    this.#buffers.end(cause);
    this.#end(cause);
  }

  #continue(input: ContinueTaskInput): Promise<void> {
    if (this.#finished) throw new UnigateError('continue-task: the task is finishing or has finished.');
    return this.#send('continue-task', { input });
  }

  #send<Action extends InferenceClientEvent['header']['action']>(
    action: Action,
    payload: Extract<InferenceClientEvent, { header: { action: Action } }>['payload'],
  ): Promise<void> {
    return this.#socket.send({ header: { action, task_id: this.id, streaming: 'duplex' }, payload });
  }
}

function unitsOf(usage: SpeechUsage | undefined): number {
  return usage?.characters ?? (usage?.input_tokens ?? 0) + (usage?.output_tokens ?? 0);
}
