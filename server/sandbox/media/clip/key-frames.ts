import h264, { type H264MP4Encoder } from 'h264-mp4-encoder';
import { BufferSource, EncodedPacketSink, Input, MP4 } from 'mediabunny';
import type { YuvFrame } from '../drawing/yuv-frame.ts';
import type { FrameSize } from './clip-plan.ts';

let encoders = 0;

/** Encodes images as H.264 key frames. */
export class KeyFrameEncoder {
  readonly #encoder: H264MP4Encoder;

  private constructor(encoder: H264MP4Encoder) {
    this.#encoder = encoder;
  }

  static async create({ width, height }: FrameSize): Promise<KeyFrameEncoder> {
    const encoder = await h264.createH264MP4Encoder();
    // All encoders of the thread share one file system.
    encoder.outputFilename = `${encoders++}.mp4`;
    encoder.width = width;
    encoder.height = height;
    encoder.speed = 10;
    encoder.quantizationParameter = 24;
    encoder.groupOfPictures = 1;
    encoder.initialize();
    return new KeyFrameEncoder(encoder);
  }

  add(frame: YuvFrame): void {
    this.#encoder.addFrameYuv(frame.toI420());
  }

  /** Returns one packet per image. Nothing can be added afterwards. */
  async finish(): Promise<{ config: VideoDecoderConfig; packets: Uint8Array[] }> {
    const { FS, outputFilename } = this.#encoder;
    this.#encoder.finalize();
    const file = FS.readFile(outputFilename);
    FS.unlink(outputFilename);
    return await readPackets(file);
  }

  release(): void {
    this.#encoder.delete();
  }
}

async function readPackets(file: Uint8Array): Promise<{ config: VideoDecoderConfig; packets: Uint8Array[] }> {
  using input = new Input({ formats: [MP4], source: new BufferSource(file) });
  const track = await input.getPrimaryVideoTrack();
  const config = await track?.getDecoderConfig();
  if (!track || !config) throw new Error('The encoder produced no video');
  validateStream(config);
  const packets: Uint8Array[] = [];
  for await (const packet of new EncodedPacketSink(track).packets()) packets.push(packet.data);
  return { config, packets };
}

/** The delta frames only match this stream format, so another version of the encoder is rejected. */
function validateStream({ description }: VideoDecoderConfig): void {
  const record = new Uint8Array((description as Uint8Array | undefined) ?? []);
  // Five bits of frame number, display order equal to decoding order: 1, 010, 011 at the start of the parameter set.
  if ((record[12] ?? 0) >> 1 !== 0b1_010_011)
    throw new Error('The encoder produces an unsupported stream format');
}
