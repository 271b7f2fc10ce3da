import h264, { type H264MP4Encoder } from 'h264-mp4-encoder';
import { BufferSource, EncodedPacketSink, Input, MP4 } from 'mediabunny';
import type { YuvPicture } from '../drawing/yuv-picture.ts';
import type { FrameSize } from './clip-plan.ts';

let encoders = 0;

/** Encodes pictures as H.264 frames that stand by themselves. */
export class KeyFrameEncoder {
  readonly #encoder: H264MP4Encoder;

  private constructor(encoder: H264MP4Encoder) {
    this.#encoder = encoder;
  }

  static async create({ width, height }: FrameSize): Promise<KeyFrameEncoder> {
    const encoder = await h264.createH264MP4Encoder();
    // The file system is one for all encoders of the thread.
    encoder.outputFilename = `${encoders++}.mp4`;
    encoder.width = width;
    encoder.height = height;
    encoder.speed = 10;
    encoder.quantizationParameter = 24;
    encoder.groupOfPictures = 1;
    encoder.initialize();
    return new KeyFrameEncoder(encoder);
  }

  add(picture: YuvPicture): void {
    this.#encoder.addFrameYuv(picture.toI420());
  }

  /** One packet for each picture. Nothing may be added after it. */
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
  if (!track || !config) throw new Error('The encoder made no video');
  checkStream(config);
  const packets: Uint8Array[] = [];
  for await (const packet of new EncodedPacketSink(track).packets()) packets.push(packet.data);
  return { config, packets };
}

/** The delta frames are written for this kind of stream alone, so another release of the encoder is refused. */
function checkStream({ description }: VideoDecoderConfig): void {
  const record = new Uint8Array((description as Uint8Array | undefined) ?? []);
  // Five bits of frame number, order of display as of decoding: 1, 010, 011 at the head of the parameter set.
  if ((record[12] ?? 0) >> 1 !== 0b1_010_011) throw new Error('The encoder makes another kind of stream');
}
