export const audio = 'https://files.example/low-tide.mp3?signature=1';
export const cover = 'https://files.example/low-tide.png?signature=1';
export const wav = 'https://files.example/low-tide.wav?signature=1';

/** A song in an upstream's response. */
export const song = (id: string, change: object = {}) => ({
  id,
  clip_id: id,
  title: 'Low tide',
  status: 'complete',
  audio_url: audio,
  image_url: cover,
  model_name: 'another-name',
  created_at: '2026-02-01T09:30:00Z',
  metadata: { tags: 'folk', prompt: 'The water leaves', type: 'gen', duration: 124.5 },
  ...change,
});

/** The usual two songs of a task. */
export const pair = [song('clip-one'), song('clip-two')];
export const timing = {
  aligned_words: [{ word: 'The', success: true, start_s: 1.2, end_s: 1.4, p_align: 0.98 }],
  waveform_data: [0.01, 0.34],
  hoot_cer: 0.02,
  is_streamed: false,
};
