import type { WebSocket } from 'ws';
import type { CatalogueModel } from '../../../generated/catalogue.ts';
import type { EventValidator } from '../../../generated/event-validators.js';
import type { JsonObject } from '../../../openapi/tools/document.ts';
import type { Alarm, Timers } from '../../../server/lib/timers.ts';
import type { Breakable, Failure, Script } from './scripts.ts';

/** What a session is begun with. */
export interface Opening {
  socket: WebSocket;
  model: CatalogueModel;
  /** What the document lets a client and the server send on this channel. */
  client: EventValidator<unknown>;
  server: EventValidator<unknown>;
  script: Script | undefined;
  timers: Timers;
  /** Milliseconds until the next frame of the client is taken. */
  latency: () => number;
}

/** Time between a setting and its confirmation, in milliseconds, so that a client that does not wait is caught. */
const confirmAfter = 20;
/** Longest time without a frame, or without a task, in milliseconds. */
export const idleLimit = 60_000;

/** The server's end of a mocked socket. Nothing leaves it that the document does not allow, scripts apart. */
export abstract class MockSession implements Breakable {
  protected readonly opening: Opening;
  readonly #alarms = new Set<Alarm>();
  #silence: Alarm | undefined;
  #script: Script | undefined;
  #over = false;
  /** Frames of the client that are not taken yet, in order. */
  readonly #late: (() => void)[] = [];
  #dueAt = 0;

  constructor(opening: Opening) {
    this.opening = opening;
    this.#script = opening.script;
    opening.socket.on('message', (data, binary) => {
      this.#inTime(() => {
        if (this.#over) return;
        if (binary) this.close(1003, 'text frames only');
        else this.take((data as Buffer).toString('utf8'));
      });
    });
    opening.socket.on('close', () => this.hang());
    // A frame that is too long or no UTF-8 is closed with its code by the library.
    opening.socket.on('error', () => {});
    this.allowSilence(idleLimit);
  }

  /** Lets the latency pass, in which no frame overtakes another. */
  #inTime(take: () => void): void {
    const { latency, timers } = this.opening;
    const wait = latency();
    if (wait === 0 && this.#late.length === 0) return take();
    const now = timers.monotonic();
    this.#dueAt = Math.max(this.#dueAt, now + wait);
    this.#late.push(take);
    this.#alarms.add(timers.alarm(this.#dueAt - now, () => this.#late.shift()?.()));
  }

  protected abstract take(text: string): void;
  protected abstract tooQuiet(): void;
  abstract fail(failure: Failure): void;

  protected send(event: JsonObject): void {
    if (this.#over) return;
    const { server, socket } = this.opening;
    if (server(event)) {
      socket.send(JSON.stringify(event));
      return;
    }
    const [error] = server.errors ?? [];
    this.close(1011, `the mock is wrong: ${error?.instancePath} ${error?.message}`.slice(0, 120));
  }

  protected sendAudio(bytes: Buffer): void {
    if (!this.#over) this.opening.socket.send(bytes);
  }

  /** A piece of audio has gone out: time for the script. */
  protected spoke(): void {
    const script = this.#script;
    this.#script = undefined;
    script?.act?.(this);
  }

  protected confirm(send: () => void): void {
    if (!this.#over) this.#alarms.add(this.opening.timers.alarm(confirmAfter, send));
  }

  /** Begins to wait anew for the next sign of life. */
  protected allowSilence(ms: number): void {
    this.#silence?.cancel();
    this.#silence = this.#over ? undefined : this.opening.timers.alarm(ms, () => this.tooQuiet());
  }

  close(code: number, reason?: string): void {
    if (this.#over) return;
    this.hang();
    this.opening.socket.close(code, reason);
  }

  drop(): void {
    this.hang();
    this.opening.socket.terminate();
  }

  hang(): void {
    this.#over = true;
    this.#silence?.cancel();
    for (const alarm of this.#alarms) alarm.cancel();
  }

  garble(): void {
    this.opening.socket.send('{"type":');
  }
}
