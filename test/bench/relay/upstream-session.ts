import type { Socket } from 'node:net';
import { AudioFrames, framesPerSecond, sampleRate } from './audio-frames.ts';
import { framesPerResponse, framesPerText, texts } from './plan.ts';
import { closeOpcode, closePayload, serverFrame, textOpcode } from './socket-frames.ts';

/** Audio frames in a write at full speed: one of each would make the stub the slowest of all. */
const framesPerWrite = 16;
const paceMs = 1000 / framesPerSecond;

/** Spreads the sessions over the time between two frames, as speakers are who know nothing of each other. */
const goldenRatio = 0.618_033_988_75;

/** One session of the realtime protocol as the provider plays it, in mode server_commit. */
export class UpstreamSession {
  readonly #socket: Socket;
  readonly #facts: Record<string, unknown>;
  readonly #audio = new AudioFrames(framesPerWrite);
  #events = 0;
  #characters = 0;
  /** Frames that the texts so far have still to make. */
  #owed = 0;
  #sent = 0;
  #responses = 0;
  #framesOfResponse = 0;
  #paced = false;
  #finishing = false;
  /** A write or a timer is pending that goes on with the audio. */
  #busy = false;
  #timer: NodeJS.Timeout | undefined;
  /** When the next paced frame is due, on the clock of `performance`. */
  #due: number;

  /** @param index how many sessions there were before */
  constructor(socket: Socket, model: string, index: number) {
    this.#socket = socket;
    this.#due = performance.now() + ((index * goldenRatio) % 1) * paceMs;
    this.#facts = {
      id: `sess_${index}`,
      object: 'realtime.session',
      mode: 'server_commit',
      model,
      voice: 'Aria',
      response_format: 'pcm',
      sample_rate: sampleRate,
    };
    this.#emit('session.created', { session: this.#facts });
  }

  /** Takes an event of the client. @throws Error when it is not one that the benchmark sends. */
  take(event: { type?: unknown; text?: unknown; session?: object }): void {
    switch (event.type) {
      case 'session.update':
        Object.assign(this.#facts, event.session);
        this.#emit('session.updated', { session: this.#facts });
        break;
      case 'input_text_buffer.append':
        this.#append(String(event.text));
        break;
      case 'session.finish':
        this.#finishing = true;
        if (this.#timer !== undefined) {
          clearTimeout(this.#timer);
          this.#busy = false;
        }
        this.#next();
        break;
      default:
        throw new Error(`the stub was sent ${JSON.stringify(event)}`);
    }
  }

  /** The socket is gone. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#busy = true;
  }

  #append(text: string): void {
    this.#paced = text === texts.paced;
    this.#characters += text.length;
    this.#owed += framesPerText;
    this.#next();
  }

  #next(): void {
    if (this.#busy) return;
    this.#busy = this.#owed > 0;
    if (!this.#busy) {
      if (this.#finishing) this.#finish();
    } else if (this.#paced && !this.#finishing) {
      this.#timer = setTimeout(this.#speakOne, Math.max(0, this.#due - performance.now()));
    } else {
      // At once, the other sessions would never get their turn.
      setImmediate(this.#speakMany);
    }
  }

  readonly #speakOne = (): void => {
    this.#timer = undefined;
    this.#due = Math.max(this.#due + paceMs, performance.now());
    this.#speak(1);
  };

  readonly #speakMany = (): void => {
    this.#speak(Math.min(this.#owed, framesPerWrite));
  };

  readonly #taken = (): void => {
    this.#busy = false;
    this.#next();
  };

  /** Sends audio, within one response, and goes on when the line has taken it. */
  #speak(most: number): void {
    if (this.#framesOfResponse === 0) this.#begin();
    const count = Math.min(most, framesPerResponse - this.#framesOfResponse);
    this.#socket.write(this.#audio.make(count, this.#sent, this.#responses), this.#taken);
    this.#sent += count;
    this.#owed -= count;
    this.#framesOfResponse += count;
    if (this.#framesOfResponse === framesPerResponse) this.#complete();
  }

  /** The ids of the response that runs. */
  get #where(): { response_id: string; item_id: string; output_index: 0; content_index: 0 } {
    const number = String(this.#responses).padStart(8, '0');
    return { response_id: `resp_${number}`, item_id: `item_${number}`, output_index: 0, content_index: 0 };
  }

  #response(status: string, more: object): object {
    return { id: this.#where.response_id, object: 'realtime.response', conversation_id: '', status, ...more };
  }

  #item(status: string, content: readonly object[]): object {
    return {
      response_id: this.#where.response_id,
      output_index: 0,
      item: {
        id: this.#where.item_id,
        object: 'realtime.item',
        type: 'message',
        status,
        role: 'assistant',
        content,
      },
    };
  }

  #begin(): void {
    this.#responses += 1;
    this.#emit('response.created', {
      response: this.#response('in_progress', { voice: 'Aria', output: [] }),
    });
    this.#emit('response.output_item.added', this.#item('in_progress', []));
    this.#emit('response.content_part.added', { ...this.#where, part: { type: 'audio', text: '' } });
  }

  #complete(): void {
    const part = { type: 'audio', text: '' };
    this.#emit('response.audio.done', this.#where);
    this.#emit('response.content_part.done', { ...this.#where, part });
    this.#emit('response.output_item.done', this.#item('completed', [part]));
    const usage = { characters: this.#characters };
    this.#emit('response.done', {
      response: this.#response('completed', {
        modalities: ['text', 'audio'],
        voice: 'Aria',
        output: [],
        usage,
      }),
    });
    this.#framesOfResponse = 0;
  }

  #finish(): void {
    if (this.#framesOfResponse > 0) this.#complete();
    this.#emit('session.finished', {});
    this.#socket.end(serverFrame(closeOpcode, closePayload(1000)));
    this.stop();
  }

  #emit(type: string, fields: object): void {
    this.#events += 1;
    const event = JSON.stringify({ event_id: `event_${this.#events}`, type, ...fields });
    this.#socket.write(serverFrame(textOpcode, Buffer.from(event)));
  }
}
