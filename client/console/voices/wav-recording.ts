import { dataUrlOf } from '../parts/media-drop.tsx';
import { wavOf } from '../speech/voice-sample.ts';

const sampleRateHz = 24_000;
const fullScale = 32_767;

/** Types of data URLs that the gateway accepts. */
const acceptedType = /^audio\/(wav|mpeg|mp4)$/;

/** Returns a recording as a data URL of a type that the gateway accepts. Converts other types to WAV. */
export async function recordingUrl(file: Blob): Promise<string> {
  return dataUrlOf(acceptedType.test(file.type) ? file : await toWav(file));
}

/** Converts any audio that the browser can decode to 16-bit mono WAV. */
async function toWav(file: Blob): Promise<Blob> {
  const context = new OfflineAudioContext(1, 1, sampleRateHz);
  const audio = await context.decodeAudioData(await file.arrayBuffer());
  const channels = Array.from({ length: audio.numberOfChannels }, (_, index) => audio.getChannelData(index));
  const view = new DataView(new ArrayBuffer(audio.length * 2));
  for (let index = 0; index < audio.length; index += 1) {
    const sum = channels.reduce((total, samples) => total + (samples[index] ?? 0), 0);
    const sample = Math.min(1, Math.max(-1, sum / channels.length));
    view.setInt16(index * 2, sample * fullScale, true);
  }
  return wavOf([new Uint8Array(view.buffer)], sampleRateHz);
}

/** Returns the bytes of a data URL. */
export function fileOf(dataUrl: string): Blob {
  const [, type = '', base64 = ''] = /^data:([^;,]*)[^,]*,(.*)$/s.exec(dataUrl) ?? [];
  return new Blob([Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))], { type });
}
