import { registerAacEncoder } from '@mediabunny/aac-encoder';
import {
  AudioSample,
  AudioSampleSource,
  BufferTarget,
  EncodedPacket,
  EncodedVideoPacketSource,
  MovOutputFormat,
  Mp4OutputFormat,
  Output,
} from 'mediabunny';
import { audioRate } from './melody.ts';

export interface VideoTrack {
  config: VideoDecoderConfig;
  frames: readonly { data: Uint8Array; type: 'key' | 'delta' }[];
  /** Frames per second. */
  frameRate: number;
}

const colorSpace = { primaries: 'bt709', transfer: 'bt709', matrix: 'bt709', fullRange: false } as const;
const audioBitRate = 96_000;

registerAacEncoder();

/**
 * Writes an MP4 or QuickTime file with a video track and, if there are `samples`, an AAC track. Its index is at the
 * start.
 */
export async function writeVideoFile(
  container: 'mp4' | 'mov',
  { config, frames, frameRate }: VideoTrack,
  samples: Float32Array<ArrayBuffer> | undefined,
): Promise<Uint8Array<ArrayBuffer>> {
  const target = new BufferTarget();
  const Format = container === 'mov' ? MovOutputFormat : Mp4OutputFormat;
  const output = new Output({ format: new Format({ fastStart: 'in-memory' }), target });
  const video = new EncodedVideoPacketSource('avc');
  output.addVideoTrack(video, { frameRate });
  const audio = samples && new AudioSampleSource({ codec: 'aac', bitrate: audioBitRate });
  if (audio) output.addAudioTrack(audio);
  await output.start();

  for (const [index, { data, type }] of frames.entries()) {
    const packet = new EncodedPacket(data, type, index / frameRate, 1 / frameRate);
    await video.add(packet, index === 0 ? { decoderConfig: { ...config, colorSpace } } : undefined);
  }
  video.close();
  if (audio && samples) {
    using sample = new AudioSample({
      data: samples,
      format: 'f32',
      numberOfChannels: 1,
      sampleRate: audioRate,
      timestamp: 0,
    });
    await audio.add(sample);
    audio.close();
  }
  await output.finalize();
  return new Uint8Array(target.buffer ?? new ArrayBuffer(0));
}
