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

/** Speech options of a task. `voice` is required. */
export type InferenceTaskOptions = Omit<RunTaskParameters, 'text_type'>;

/** One text on an inference socket. After a failure, every call throws its error. */
export class InferenceTask {
  readonly id = newId();
  /** The events of the task without the audio. One loop at a time can read them. */
  readonly events: AsyncIterable<InferenceServerEvent>;
  readonly #socket: EventSocket;
  readonly #buffers: ReceiveBuffers<InferenceServerEvent>;
  readonly #started: Promise<void>;
  readonly #ended: Promise<void>;
  #start = () => {};
  #end: (error?: Error) => void = () => {};
  #finished: Promise<void> | undefined;
  #hasEnded = false;
  #usage: SpeechUsage | undefined;

  /** Called by `InferenceConnection.task`. */
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
      canPause: socket.canPause,
      setPaused: (paused) => socket.setPaused(this, paused),
      overflow: () => socket.fail(new UnigateError('The audio arrives faster than it is read.')),
    });
    this.events = this.#buffers.events;
  }

  /** Whether the task has finished or failed. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** The usage billed so far. Undefined until the first report. */
  get usage(): SpeechUsage | undefined {
    return this.#usage;
  }

  /** Adds text. Resolves when more can be sent. Awaiting it is optional. */
  send(text: string): Promise<void> {
    return this.#continue({ text });
  }

  /** Speaks the buffered text. */
  flush(): Promise<void> {
    return this.#continue({ flush: true });
  }

  /** Ends the text. The gateway speaks the rest, then `audio` and `events` end. */
  finish(): Promise<void> {
    if (!this.#finished) {
      this.#finished = this.#send('finish-task', { input: {} });
      this.#socket.expectResponse();
    }
    return this.#finished;
  }

  /** The audio as one file. One loop at a time can read it. */
  audio(): AsyncIterable<Uint8Array> {
    return this.#buffers.audio;
  }

  /**
   * Finishes the task if needed, waits for its end and returns the final usage. Discards audio that no loop is reading. The
   * socket stays open.
   */
  async close(): Promise<SpeechUsage | undefined> {
    void this.finish();
    this.#buffers.awaitEnd();
    await this.#ended;
    return this.#usage;
  }

  /** Sends `run-task` and resolves when the task has started. Internal. */
  async run(model: string, options: InferenceTaskOptions): Promise<void> {
    this.#socket.expectResponse();
    const parameters: RunTaskParameters = { text_type: 'PlainText', ...options };
    const kind = { task_group: 'audio', task: 'tts', function: 'SpeechSynthesizer' } as const;
    void this.#send('run-task', { ...kind, model, parameters, input: {} });
    await this.#started;
  }

  /** Handles an event of this task. Internal. */
  handleEvent(event: InferenceServerEvent, size: number): void {
    this.#buffers.pushEvent(event, size);
    const { header, payload } = event;
    // Usage is cumulative, so a smaller value is outdated.
    if ('usage' in payload && payload.usage && unitsOf(payload.usage) >= unitsOf(this.#usage))
      this.#usage = payload.usage;
    if (header.event === 'task-started') {
      this.#socket.responseReceived();
      this.#start();
    } else if (header.event === 'task-finished') {
      this.end();
    } else if (header.event === 'task-failed') {
      const { error_code: code, error_message: message, task_id: taskId } = header;
      this.end(new TaskFailedError({ code, message, taskId, requestId: this.#socket.requestId }));
    }
  }

  /** Handles a binary frame. Internal. */
  handleAudio(bytes: Uint8Array): void {
    this.#buffers.pushAudio(bytes);
  }

  /** Ends the task. Internal. */
  end(cause?: Error): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    if (this.#finished) this.#socket.responseReceived();
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
