/** Told of each frame: its opcode (1 text, 2 binary, 8 close, 9 ping, 10 pong) and its payload, unmasked. */
export type OnFrame = (opcode: number, payload: Buffer) => void;

export const textOpcode = 1;
export const closeOpcode = 8;

const finished = 0x80;
const maskBit = 0x80;
const keyBytes = 4;

/**
 * Reads the WebSocket frames of one end, since a full library at both ends would cost more than the relays between
 * them. Knows whole frames of up to 64 KB.
 */
export class FrameReader {
  readonly #onFrame: OnFrame;
  /** The beginning of a frame. */
  #rest: Buffer | undefined;
  /** Bytes that it lacks, at the least. */
  #missing = 0;

  constructor(onFrame: OnFrame) {
    this.#onFrame = onFrame;
  }

  /** Keeps nothing of `data`, which may be used again. @throws Error when it is no frame of the kind it knows. */
  read(data: Buffer): void {
    let at = 0;
    while (this.#rest !== undefined && at < data.length) {
      const more = data.subarray(at, at + this.#missing);
      at += more.length;
      const bytes = Buffer.concat([this.#rest, more]);
      const next = this.#frame(bytes, 0);
      this.#rest = next > 0 ? undefined : bytes;
      this.#missing = -next;
    }
    while (at < data.length) {
      const next = this.#frame(data, at);
      if (next < 0) {
        this.#rest = Buffer.from(data.subarray(at));
        this.#missing = -next;
        return;
      }
      at = next;
    }
  }

  /** Takes the frame at `at` and returns where the next one starts; negative: how many bytes are missing. */
  #frame(bytes: Buffer, at: number): number {
    const present = bytes.length - at;
    if (present < 2) return present - 2;
    const first = bytes[at] ?? 0;
    const second = bytes[at + 1] ?? 0;
    if ((first & 0xf0) !== finished) throw new Error(`not a whole frame: it begins with ${first}`);
    let length = second & 0x7f;
    let start = at + 2;
    if (length === 127) throw new Error('a frame is longer than 64 KB');
    if (length === 126) {
      if (present < 4) return present - 4;
      length = bytes.readUInt16BE(start);
      start += 2;
    }
    const key = start;
    const masked = (second & maskBit) !== 0;
    if (masked) start += keyBytes;
    const end = start + length;
    if (end > bytes.length) return bytes.length - end;
    const payload = bytes.subarray(start, end);
    this.#onFrame(first & 0x0f, masked ? unmasked(payload, bytes.subarray(key, start)) : payload);
    return end;
  }
}

function unmasked(payload: Buffer, key: Buffer): Buffer {
  return Buffer.from(payload.map((byte, index) => byte ^ (key[index % keyBytes] ?? 0)));
}

/** A frame as a server sends it. @throws RangeError when the payload is 64 KB or more. */
export function serverFrame(opcode: number, payload: Buffer): Buffer {
  return Buffer.concat([frameHead(opcode, payload.length, 0), payload]);
}

/** A frame as a client sends it, under the mask of zeros, which changes nothing. */
export function clientFrame(opcode: number, payload: Buffer): Buffer {
  return Buffer.concat([frameHead(opcode, payload.length, maskBit), Buffer.alloc(keyBytes), payload]);
}

/** The payload of a close frame. */
export function closePayload(code: number): Buffer {
  const payload = Buffer.alloc(2);
  payload.writeUInt16BE(code);
  return payload;
}

function frameHead(opcode: number, length: number, mask: number): Buffer {
  if (length < 126) return Buffer.from([finished | opcode, mask | length]);
  const head = Buffer.from([finished | opcode, mask | 126, 0, 0]);
  head.writeUInt16BE(length, 2);
  return head;
}
