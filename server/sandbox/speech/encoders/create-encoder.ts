import type { AudioSettings } from '../commands.ts';
import type { AudioEncoder } from './encoder.ts';
import { createFlacEncoder } from './flac.ts';
import { createMp3Encoder } from './mp3.ts';
import { createOpusEncoder } from './opus.ts';
import { createPcmEncoder, createWavEncoder } from './wav.ts';

/** Creates the encoder of a format. */
export async function createEncoder(settings: AudioSettings): Promise<AudioEncoder> {
  switch (settings.format) {
    case 'wav':
      return createWavEncoder(settings);
    case 'pcm':
      return createPcmEncoder(settings);
    case 'flac':
      return createFlacEncoder(settings);
    case 'mp3':
      return await createMp3Encoder(settings);
    case 'opus':
      return await createOpusEncoder(settings);
  }
}
