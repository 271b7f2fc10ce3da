import { createMp3Encoder as createLame } from 'wasm-media-encoders';
import type { AudioSettings } from '../commands.ts';
import type { AudioEncoder } from './encoder.ts';

type Lame = Awaited<ReturnType<typeof createLame>>;
type BitRate = NonNullable<Parameters<Lame['configure']>[0]['bitrate']>;

const bitRates: readonly BitRate[] = [8, 16, 24, 32, 40, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];

// Compiling the codec takes longer than a sentence, so finished instances are kept for the next stream.
const idle: Lame[] = [];

/** Constant bit rate MP3; a rate the MPEG version does not have becomes the nearest it has. */
export async function createMp3Encoder(settings: AudioSettings): Promise<AudioEncoder> {
  const { sampleRate, channels } = settings;
  const asked = (settings.bitRate ?? (sampleRate >= 32000 ? 128_000 : 64_000)) / 1000;
  const lame = idle.pop() ?? (await createLame());
  const bitrate = bitRates.findLast((rate) => rate <= asked) ?? 8;
  // The output rate is fixed to the input's, or the codec lowers it by itself at low bit rates.
  lame.configure({ sampleRate, channels, bitrate, outputSampleRate: sampleRate as 22050 });
  return {
    inputRate: sampleRate,
    encode: (samples) => lame.encode(channels === 2 ? [samples, samples] : [samples]),
    finish: () => lame.finalize(),
    release: () => {
      if (idle.length < 4) idle.push(lame);
    },
  };
}
