import type { Json } from '../../../openapi/tools/document.ts';
import type { Limits } from '../../support/limits.ts';

/** Values that the interface lists in full. */
export const enums: Limits = {
  // Part 2.4: realtime session.
  'RealtimeSessionFields.mode': { enum: ['server_commit', 'commit'] },
  'RealtimeSessionFields.response_format': { enum: ['pcm', 'wav', 'mp3', 'opus'] },
  'RealtimeSessionFields.sample_rate': { enum: [8000, 16000, 24000, 48000] },

  // Part 2.5: gamma. Lowercase sizes are normalized in a generic request.
  'GammaParameters.resolution': { enum: ['480P', '720P', '1080P'] },
  'GammaParameters.ratio': { enum: ['adaptive', '16:9', '4:3', '1:1', '3:4', '9:16'] },
  'GammaMedia.type': {
    enum: [
      'first_frame',
      'last_frame',
      'reference_image',
      'reference_video',
      'reference_audio',
      'file',
      'link',
    ],
  },
  // Image-type urls may be Base64, and a link must be a web page.
  'GammaMedia/if.type': { enum: ['first_frame', 'last_frame', 'reference_image'] },
  'GammaMedia/else/if.type': { const: 'link' },

  // Part 2.6: music. 0 is inspiration, 1 custom lyrics.
  'MusicFlag/anyOf/0': { enum: [0, 1] },
  'MusicInput/if.task': { const: 'gen_stem' },
  // Part 9: the current version and those that are redirected to it.
  'MusicInput.mv': {
    enum: ['chirp-hawk', 'chirp-v4', 'chirp-v3-5', 'chirp-bluejay', 'chirp-auk', 'chirp-fenix'],
  },

  // Part 4.2: the query `model` of the asset routes accepts the overseas model only.
  'parameters/AssetModel': { enum: ['zeta-delta-2-0-fast-260128'] },

  // Constants of responses: parts 2.5, 2.6, 2.8 and 4.2.
  'VideoTask.object': { const: 'video' },
  'FamilyRecord.code': { const: 'success' },
  'AssetUploadReply.code': { const: 0 },
  'AssetReply.code': { const: 0 },
  'Asset.Id': { pattern: '^asset-\\d+-[A-Za-z0-9]+$' },
  NativeTime: { pattern: '^\\d{4}-\\d{2}-\\d{2} \\d{2}:\\d{2}:\\d{2}\\.\\d{3}$' },
  'MusicSubmitReply.code/anyOf/0': { const: 200 },
  'MusicSubmitReply.code/anyOf/1': { const: 'success' },
  'LyricsSubmitReply.code/anyOf/0': { const: 200 },
  'LyricsSubmitReply.code/anyOf/1': { const: 'success' },
  'EmbeddingListReply.object': { const: 'list' },
  'Embedding.object': { const: 'embedding' },
  'Message.type': { const: 'message' },
  'Message.role': { const: 'assistant' },
};

/** Values that must be accepted, where the interface gives examples and leaves the list open. */
export const requiredValues: Readonly<Record<string, readonly Json[]>> = {
  'SpeechRequest.response_format': ['mp3', 'wav', 'pcm'],
  'SpeechRequest.stream_format': ['sse'],
  'parameters/NativeSse': ['enable'],
  'parameters/NativeAsync': ['enable'],
  'MultimodalSpeechInput.language_type': ['Chinese', 'English', 'Auto'],
  'RealtimeSessionFields.language_type': ['Chinese', 'Auto'],
  'OfficialImageItem.role': ['reference_image'],
  'OfficialTaskRequest.resolution': ['480p'],
  OfficialRatio: ['16:9', 'adaptive'],
  'Asset.AssetType': ['Image'],
};
