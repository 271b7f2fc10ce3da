/** Part 2.1 of the interface: the speech models, row by row. */
export interface SpeechRow {
  ids: readonly string[];
  /** Value of the column "Protocol". */
  protocol: keyof typeof protocols;
  /** Value of the column "Usage unit". */
  unit: keyof typeof units;
  /** Voices of the model, if the row limits them. */
  voices?: 'cloned' | 'designed';
}

/** Values of the column "Protocol" and the protocols of the catalog. */
export const protocols = {
  'HTTP / inference WS': ['synthesizer', 'inference'],
  'inference WS only': ['inference'],
  'native multimodal HTTP': ['multimodal'],
  'realtime WS': ['realtime'],
  'voice customization HTTP': ['customization'],
} as const;

/** Values of that column and the reporting of usage. */
export const reported: Readonly<Partial<Record<string, 'session' | 'response'>>> = {
  'session cumulative characters': 'session',
  'tokens per response': 'response',
};

/** Values of the column "Usage unit" and the units of the catalog. */
export const units = {
  characters: 'characters',
  'input/output tokens': 'tokens',
  'session cumulative characters': 'characters',
  'tokens per response': 'tokens',
  'create/manage actions': 'actions',
} as const;

export const speechModels: readonly SpeechRow[] = [
  { ids: ['alpha-audio-3.0-tts-plus'], protocol: 'HTTP / inference WS', unit: 'characters' },
  { ids: ['alpha-audio-3.1-tts-flash'], protocol: 'HTTP / inference WS', unit: 'input/output tokens' },
  { ids: ['alpha-audio-3.0-tts-flash'], protocol: 'HTTP / inference WS', unit: 'characters' },
  {
    ids: ['voxa-v3.5-plus', 'voxa-v3.5-flash', 'voxa-v3-plus', 'voxa-v3-flash', 'voxa-v2'],
    protocol: 'HTTP / inference WS',
    unit: 'characters',
  },
  { ids: ['voxa-v1'], protocol: 'inference WS only', unit: 'characters' },
  {
    ids: ['alpha3-tts-flash', 'alpha3-tts-flash-2025-11-27', 'alpha3-tts-flash-2025-09-18'],
    protocol: 'native multimodal HTTP',
    unit: 'characters',
  },
  {
    ids: ['alpha3-tts-instruct-flash', 'alpha3-tts-instruct-flash-2026-01-26'],
    protocol: 'native multimodal HTTP',
    unit: 'characters',
  },
  {
    ids: ['alpha3-tts-vc-2026-01-22'],
    protocol: 'native multimodal HTTP',
    unit: 'characters',
    voices: 'cloned',
  },
  {
    ids: ['alpha3-tts-vd-2026-01-26'],
    protocol: 'native multimodal HTTP',
    unit: 'characters',
    voices: 'designed',
  },
  {
    ids: ['alpha-tts', 'alpha-tts-latest', 'alpha-tts-2025-05-22', 'alpha-tts-2025-04-10'],
    protocol: 'native multimodal HTTP',
    unit: 'input/output tokens',
  },
  {
    ids: [
      'alpha3-tts-flash-realtime',
      'alpha3-tts-flash-realtime-2025-11-27',
      'alpha3-tts-flash-realtime-2025-09-18',
      'alpha3-tts-instruct-flash-realtime',
      'alpha3-tts-instruct-flash-realtime-2026-01-22',
    ],
    protocol: 'realtime WS',
    unit: 'session cumulative characters',
  },
  {
    ids: ['alpha3-tts-vc-realtime-2026-01-15', 'alpha3-tts-vc-realtime-2025-11-27'],
    protocol: 'realtime WS',
    unit: 'session cumulative characters',
    voices: 'cloned',
  },
  {
    ids: ['alpha3-tts-vd-realtime-2026-01-15', 'alpha3-tts-vd-realtime-2025-12-16'],
    protocol: 'realtime WS',
    unit: 'session cumulative characters',
    voices: 'designed',
  },
  {
    ids: ['alpha-tts-realtime', 'alpha-tts-realtime-latest', 'alpha-tts-realtime-2025-07-15'],
    protocol: 'realtime WS',
    unit: 'tokens per response',
  },
  {
    ids: ['beta/speech-2.8-hd', 'beta/speech-02-hd', 'beta/speech-2.8-turbo', 'beta/speech-02-turbo'],
    protocol: 'native multimodal HTTP',
    unit: 'characters',
  },
  {
    ids: ['voice-enrollment', 'alpha-voice-enrollment', 'alpha-voice-design'],
    protocol: 'voice customization HTTP',
    unit: 'create/manage actions',
  },
];

/** Parts 2.3 and 8: maximum text length of one native request. */
export const maxTexts = {
  alpha3: { maxCharacters: 600 },
  'alpha-legacy': { maxTokens: 512 },
} as const;

/** Parts 2.5, 4.2 and 9: the other model ids that the interface names, by family. */
export const otherModels = {
  gamma: ['gamma3.0-video-prime', 'gamma3.0-video'],
  seedance: [
    'epsilon-delta-2-5-260628',
    'epsilon-delta-2-0-260128',
    'epsilon-delta-2-0-fast-260128',
    'zeta-delta-2-0-fast-260128',
  ],
  eta: ['eta-imagine-video', 'eta-imagine-video-1.5-preview'],
  sigma: ['sigma_music'],
  imgjob: ['imgjob_image'],
} as const;
