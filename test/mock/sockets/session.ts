import type { WebSocket } from 'ws';
import type { CatalogueModel } from '../../../generated/catalogue.ts';
import type { EventValidator } from '../../../generated/event-validators.js';
import type { JsonObject } from '../../../openapi/tools/document.ts';
import type { Alarm, Timers } from '../../../server/lib/timers.ts';
import { idleTimeoutMs } from '../../../server/sockets/limits.ts';
import type { Failure, FaultTarget, Script } from './scripts.ts';

/** Parameters of a session. */
export interface SessionOptions {
  socket: WebSocket;
  model: CatalogueModel;
  /** Validates the events of the server. */
  server: EventValidator<unknown>;
  script: Script | undefined;
  timers: Timers;
  /** Returns the delay of the next client frame in milliseconds. */
  latency: () => number;
}

/** Delay of a confirmation, which detects clients that do not wait for it. */
const confirmDelayMs = 20;

/** The server side of a mocked socket. It validates every event that it sends, except those of scripts. */
export abstract class MockSession implements FaultTarget {
  protected readonly options: SessionOptions;
  readonly #alarms = new Set<Alarm>();
  #silence: Alarm | undefined;
  #script: Script | undefined;
  #isClosed = false;
  /** Delayed client frames, in order. */
  readonly #queue: (() => void)[] = [];
  #dueAt = 0;

  constructor(options: SessionOptions) {
    this.options = options;
    this.#script = options.script;
    options.socket.on('message', (data, binary) => {
      this.#afterLatency(() => {
        if (this.#isClosed) return;
        if (binary) this.close(1003, 'text frames only');
        else this.handleText((data as Buffer).toString('utf8'));
      });
    });
    options.socket.on('close', () => this.hang());
    // ws closes the socket if a frame is too long or not UTF-8.
    options.socket.on('error', () => {});
    this.restartSilenceTimer(idleTimeoutMs);
  }

  /** Runs `handle` after the latency. Frames stay in order. */
  #afterLatency(handle: () => void): void {
    const { latency, timers } = this.options;
    const delay = latency();
    if (delay === 0 && this.#queue.length === 0) return handle();
    const now = timers.monotonic();
    this.#dueAt = Math.max(this.#dueAt, now + delay);
    this.#queue.push(handle);
    this.#alarms.add(timers.alarm(this.#dueAt - now, () => this.#queue.shift()?.()));
  }

  protected get isClosed(): boolean {
    return this.#isClosed;
  }

  protected abstract handleText(text: string): void;
  protected abstract onSilence(): void;
  abstract fail(failure: Failure): void;

  protected send(event: JsonObject): void {
    if (this.#isClosed) return;
    const { server, socket } = this.options;
    if (server(event)) {
      socket.send(JSON.stringify(event));
      return;
    }
    const [error] = server.errors ?? [];
    this.close(1011, `invalid mock event: ${error?.instancePath} ${error?.message}`.slice(0, 120));
  }

  protected sendAudio(bytes: Buffer): void {
    if (!this.#isClosed) this.options.socket.send(bytes);
  }

  /** Runs the script after the first audio chunk. */
  protected afterAudio(): void {
    const script = this.#script;
    this.#script = undefined;
    script?.apply?.(this);
  }

  protected confirmLater(send: () => void): void {
    if (!this.#isClosed) this.#alarms.add(this.options.timers.alarm(confirmDelayMs, send));
  }

  /** Restarts the silence timer. */
  protected restartSilenceTimer(ms: number): void {
    this.#silence?.cancel();
    this.#silence = this.#isClosed ? undefined : this.options.timers.alarm(ms, () => this.onSilence());
  }

  close(code: number, reason?: string): void {
    if (this.#isClosed) return;
    this.hang();
    this.options.socket.close(code, reason);
  }

  drop(): void {
    this.hang();
    this.options.socket.terminate();
  }

  hang(): void {
    this.#isClosed = true;
    this.#silence?.cancel();
    for (const alarm of this.#alarms) alarm.cancel();
  }

  garble(): void {
    this.options.socket.send('{"type":');
  }
}
