import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { gatewayKey } from '../gateway.ts';
import { checkAudio, delayOf, isAudio, sampleRate } from './audio-frames.ts';
import { framesPerText, type RelayMode, realtimePath, texts } from './plan.ts';
import { clientFrame, closeOpcode, closePayload, FrameReader, textOpcode } from './socket-frames.ts';

/** All sessions read into it, one after another: a buffer for each read would keep the collector busy. */
const readBuffer = Buffer.allocUnsafeSlow(64 * 1024);

interface ServerEvent {
  type: string;
  response?: { usage?: { characters?: number } };
}

/**
 * One session as a client has it. It keeps the upstream busy by appending a text for each one that was spoken, and
 * checks every frame.
 */
export class ClientSession {
  /** Audio frames so far. */
  frames = 0;
  /** Characters of the texts so far. */
  characters = 0;
  /** Settled when audio comes; rejected by the first thing that is wrong. */
  readonly speaking: Promise<void>;
  /** Settled when all that was asked for has come and the socket was closed as it must be. */
  readonly ended: Promise<void>;
  readonly #speaking = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<void>();
  readonly #socket: Socket;
  readonly #text: string;
  /** Texts that the upstream has at the beginning. */
  readonly #ahead: number;
  readonly #onDelay: ((ms: number) => void) | undefined;
  readonly #reader = new FrameReader((opcode, payload) => this.#take(opcode, payload));
  #answer: Buffer = Buffer.alloc(0);
  #answered = false;
  #events = 0;
  #finishing = false;
  /** Characters that the provider has told of. */
  #reported = 0;
  #finished = false;

  /** @param onDelay told of the delay of each audio frame, in milliseconds */
  constructor(port: number, mode: RelayMode, ahead: number, onDelay: ((ms: number) => void) | undefined) {
    this.#text = texts[mode];
    this.#ahead = ahead;
    this.#onDelay = onDelay;
    this.speaking = this.#speaking.promise;
    this.ended = this.#ended.promise;
    // Whoever waits for one of them hears of the failure; nobody may be waiting for the other.
    this.ended.catch(() => {});
    this.speaking.catch(() => {});
    this.#socket = connect({
      port,
      host: '127.0.0.1',
      noDelay: true,
      onread: {
        buffer: readBuffer,
        callback: (length) => {
          this.#read(readBuffer.subarray(0, length));
          return true;
        },
      },
    });
    this.#socket.on('error', (error) => this.fail(error));
    this.#socket.on('close', () => this.fail(new Error('a session was cut off')));
    this.#socket.write(handshake(port));
  }

  finish(): void {
    this.#finishing = true;
    this.#send('session.finish', {});
  }

  /** Gives up. */
  fail(error: unknown): void {
    this.#speaking.reject(error);
    this.#ended.reject(error);
    this.#socket.destroy();
  }

  #read(data: Buffer): void {
    try {
      const frames = this.#answered ? data : this.#readAnswer(data);
      if (frames !== undefined) this.#reader.read(frames);
    } catch (error) {
      this.fail(error);
    }
  }

  /** Reads the answer to the handshake, and returns what follows it. */
  #readAnswer(data: Buffer): Buffer | undefined {
    const bytes = Buffer.concat([this.#answer, data]);
    const end = bytes.indexOf('\r\n\r\n');
    this.#answer = bytes;
    if (end < 0) return undefined;
    const status = bytes.toString('latin1', 0, bytes.indexOf('\r\n'));
    if (!status.startsWith('HTTP/1.1 101 ')) throw new Error(`a handshake was answered with ${status}`);
    this.#answered = true;
    return bytes.subarray(end + 4);
  }

  #take(opcode: number, payload: Buffer): void {
    if (opcode === closeOpcode) {
      this.#close(payload.readUInt16BE());
    } else if (isAudio(payload)) {
      this.#onDelay?.(delayOf(payload));
      checkAudio(payload, this.frames);
      this.frames += 1;
      if (this.frames === 1) this.#speaking.resolve();
      if (this.frames % framesPerText === 0 && !this.#finishing) this.#append();
    } else if (opcode === textOpcode) {
      this.#event(JSON.parse(payload.toString()) as ServerEvent, payload);
    }
  }

  #event({ type, response }: ServerEvent, payload: Buffer): void {
    switch (type) {
      case 'session.created':
        this.#send('session.update', { session: { voice: 'Aria', sample_rate: sampleRate } });
        break;
      case 'session.updated':
        for (let text = 0; text < this.#ahead; text += 1) this.#append();
        break;
      case 'response.done':
        this.#reported = response?.usage?.characters ?? Number.NaN;
        break;
      case 'session.finished':
        this.#finished = true;
        break;
      case 'error':
        throw new Error(`a session failed: ${payload.toString()}`);
    }
  }

  #append(): void {
    this.#send('input_text_buffer.append', { text: this.#text });
    this.characters += this.#text.length;
  }

  #send(type: string, fields: object): void {
    this.#events += 1;
    const event = JSON.stringify({ event_id: `client_${this.#events}`, type, ...fields });
    this.#socket.write(clientFrame(textOpcode, Buffer.from(event)));
  }

  #close(code: number): void {
    const due = (this.characters / this.#text.length) * framesPerText;
    if (code !== 1000 || !this.#finished || this.#reported !== this.characters || this.frames !== due) {
      const end = this.#finished ? 'finished' : 'did not finish';
      throw new Error(
        `a session ${end} and closed with ${code}; of ${due} audio frames came ${this.frames}, and of ` +
          `${this.characters} characters ${this.#reported} were reported`,
      );
    }
    this.#ended.resolve();
    this.#socket.end(clientFrame(closeOpcode, closePayload(1000)));
  }
}

function handshake(port: number): string {
  const headers = [
    `host: 127.0.0.1:${port}`,
    'connection: Upgrade',
    'upgrade: websocket',
    'sec-websocket-version: 13',
    `sec-websocket-key: ${randomBytes(16).toString('base64')}`,
    `authorization: Bearer ${gatewayKey}`,
  ];
  return `GET ${realtimePath} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`;
}
