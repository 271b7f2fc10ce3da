import { models, type Protocol } from '../../generated/catalogue.ts';
import type { ChannelProtocol } from './configuration.ts';
import type { ChannelSettings } from './settings.ts';

/** What the embedded upstream can do so far, by the protocol of the channel. */
const served: readonly [name: string, ChannelProtocol, readonly Protocol[]][] = [
  [
    'sandbox',
    'native',
    ['synthesizer', 'multimodal', 'inference', 'realtime', 'customization', 'native_video', 'native_3d'],
  ],
  ['sandbox-official', 'official', ['official']],
  ['sandbox-eta', 'eta', ['eta']],
  ['sandbox-sigma', 'sigma', ['sigma']],
  ['sandbox-imgjob', 'imgjob', ['imgjob']],
  ['sandbox-verification', 'verification', ['verification']],
  ['sandbox-embeddings', 'embeddings', ['embeddings']],
  ['sandbox-messages', 'messages', ['messages']],
];

/** The embedded upstream as channels like any vendor's: it serves whatever no configured channel outranks. */
export function sandboxChannels({
  url,
  wsUrl,
  key,
}: Readonly<Record<'url' | 'wsUrl' | 'key', string>>): ChannelSettings[] {
  return served.map(([name, protocol, known]) => ({
    name,
    protocol,
    baseUrl: url,
    wsUrl,
    key,
    models: models
      .filter(({ protocols }) => protocols.some((one) => known.includes(one)))
      .map(({ id }) => ({ id, upstream: undefined })),
    groups: undefined,
    priority: 0,
    weight: 1,
    voices: 'catalogue',
    profile: { headers: {}, paths: {} },
    privateFiles: true,
    relayMedia: true,
  }));
}
