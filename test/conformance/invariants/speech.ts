import { anyTime, atMost, filled, type Invariants, when } from './vocabulary.ts';

const audio = [
  anyTime('output.audio.expires_at', 's'),
  when('', 'output.finish_reason', 'stop', filled('usage')),
];

export const speech: Invariants<'synthesizeSpeech' | 'generateMultimodalSpeech' | 'customizeVoice'> = {
  synthesizeSpeech: audio,
  generateMultimodalSpeech: [...audio, atMost('usage', 'output_tokens', 'total_tokens')],
  customizeVoice: [anyTime('output.voice_list[].gmt_create', 'date'), anyTime('output.gmt_create', 'date')],
};
