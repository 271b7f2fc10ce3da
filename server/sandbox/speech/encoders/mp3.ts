import { createMp3Encoder as createLame } from 'wasm-media-encoders';
import type { AudioSettings } from '../commands.ts';
import type { AudioEncoder } from './encoder.ts';

type Lame = Awaited<ReturnType<typeof createLame>>;
type BitRate = NonNullable<Parameters<Lame['configure']>[0]['bitrate']>;

const bitRates: readonly BitRate[] = [8, 16, 24, 32, 40, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];

// Compiling the codec takes longer than encoding a sentence, so idle instances are reused.
const idle: Lame[] = [];

/** Creates an MP3 encoder with a constant bit rate, rounded down to the next standard rate. */
export async function createMp3Encoder(settings: AudioSettings): Promise<AudioEncoder> {
  const { sampleRate, channels } = settings;
  const requested = (settings.bitRate ?? (sampleRate >= 32000 ? 128_000 : 64_000)) / 1000;
  const lame = idle.pop() ?? (await createLame());
  const bitrate = bitRates.findLast((rate) => rate <= requested) ?? 8;
  // The output rate is set explicitly, because the codec would lower it at low bit rates.
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
