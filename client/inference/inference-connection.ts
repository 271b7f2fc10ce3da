import type { InferenceServerEvent, SpeechUsage } from '../../generated/events.ts';
import { UnigateError } from '../errors.ts';
import type { EventSocket } from '../sockets/event-socket.ts';
import { type SpokenText, speakThrough } from '../sockets/speak-through.ts';
import { InferenceTask, type InferenceTaskOptions } from './inference-task.ts';

/**
 * An inference socket, on which one task after another runs.
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
      event: (event, size) => this.#take(event as InferenceServerEvent, size),
      bytes: (bytes) => this.#task?.takeAudio(bytes),
      broken: (error) => this.#break(error),
    });
  }

  /**
   * Starts a task, when no other runs. Throws TaskFailedError when the gateway refuses it; the socket is of no more use
   * then.
   */
  async task(options: InferenceTaskOptions): Promise<InferenceTask> {
    if (this.#error) throw this.#error;
    if (this.#task && !this.#task.over) throw new UnigateError('Another task is running; finish it first.');
    const task = new InferenceTask(this.#socket);
    this.#task = task;
    await task.run(this.#model, options);
    return task;
  }

  /**
   * Speaks one text, which may still be coming, as one task. Yields the audio and returns the usage. Leaving the loop
   * early closes the socket.
   */
  async *speak(
    text: SpokenText,
    options: InferenceTaskOptions,
  ): AsyncGenerator<Uint8Array, SpeechUsage | undefined> {
    const task = await this.task(options);
    return yield* speakThrough(text, {
      say: (piece) => task.send(piece),
      finish: () => task.finish(),
      audio: task.audio(),
      close: () => task.close(),
      leave: (error) => {
        if (task.over) return;
        this.#socket.fail(error instanceof Error ? error : new UnigateError('The task was left.'));
      },
    });
  }

  /** Waits for the end of the running task, as `task.close` does, and closes the socket. */
  async close(): Promise<void> {
    try {
      if (this.#task && !this.#task.over) await this.#task.close();
    } finally {
      this.#error ??= new UnigateError('The socket is closed.');
      this.#socket.close();
    }
  }

  #take(event: InferenceServerEvent, size: number): void {
    const task = this.#task;
    if (!task || event.header?.task_id !== task.id) return;
    task.takeEvent(event, size);
    if (event.header.event !== 'task-failed') return;
    // The gateway takes no other task after a failed one.
    this.#error = new UnigateError('A task has failed, which ends its socket.');
    this.#socket.close();
  }

  #break(error: Error): void {
    this.#error ??= error;
    this.#task?.end(error);
  }
}
