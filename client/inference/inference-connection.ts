import type { InferenceServerEvent, SpeechUsage } from '../../generated/events.ts';
import { UnigateError } from '../errors.ts';
import type { EventSocket } from '../sockets/event-socket.ts';
import { type SpeechText, speakText } from '../sockets/speak-text.ts';
import { InferenceTask, type InferenceTaskOptions } from './inference-task.ts';

/**
 * An inference socket that runs one task at a time.
 *
 * @example
 * const connection = await client.inference('voxa-v3-flash');
 * const task = await connection.task({ voice: 'voxanna', format: 'mp3' });
 * task.send('Good morning.');
 * task.finish();
 * for await (const mp3 of task.audio()) play(mp3);
 * const usage = await task.close();
 * await connection.close();
 */
export class InferenceConnection {
  /** The gateway's id of the handshake. */
  readonly requestId: string | undefined;
  readonly #socket: EventSocket;
  readonly #model: string;
  #task: InferenceTask | undefined;
  #error: Error | undefined;

  constructor(socket: EventSocket, model: string) {
    this.#socket = socket;
    this.#model = model;
    this.requestId = socket.requestId;
    socket.listen({
      event: (event, size) => this.#receive(event as InferenceServerEvent, size),
      bytes: (bytes) => this.#task?.handleAudio(bytes),
      failed: (error) => this.#handleFailure(error),
    });
  }

  /** Starts a task if no other runs. Throws TaskFailedError if the gateway rejects it; the socket is unusable then. */
  async task(options: InferenceTaskOptions): Promise<InferenceTask> {
    if (this.#error) throw this.#error;
    if (this.#task && !this.#task.hasEnded)
      throw new UnigateError('Another task is running; finish it first.');
    const task = new InferenceTask(this.#socket);
    this.#task = task;
    await task.run(this.#model, options);
    return task;
  }

  /**
   * Speaks one text, complete or in parts, as one task. Yields the audio and returns the usage. Leaving the loop early closes
   * the socket.
   */
  async *speak(
    text: SpeechText,
    options: InferenceTaskOptions,
  ): AsyncGenerator<Uint8Array, SpeechUsage | undefined> {
    const task = await this.task(options);
    return yield* speakText(text, {
      send: (part) => task.send(part),
      finish: () => task.finish(),
      audio: task.audio(),
      close: () => task.close(),
      abort: (error) => {
        if (task.hasEnded) return;
        this.#socket.fail(error instanceof Error ? error : new UnigateError('The task was aborted.'));
      },
    });
  }

  /** Waits for the end of the running task like `task.close`, and closes the socket. */
  async close(): Promise<void> {
    try {
      if (this.#task && !this.#task.hasEnded) await this.#task.close();
    } finally {
      this.#error ??= new UnigateError('The socket is closed.');
      this.#socket.close();
    }
  }

  #receive(event: InferenceServerEvent, size: number): void {
    const task = this.#task;
    if (!task || event.header?.task_id !== task.id) return;
    task.handleEvent(event, size);
    if (event.header.event !== 'task-failed') return;
    // The gateway accepts no further task after a failed one.
    this.#error = new UnigateError('A task failed, which ends its socket.');
    this.#socket.close();
  }

  #handleFailure(error: Error): void {
    this.#error ??= error;
    this.#task?.end(error);
  }
}
