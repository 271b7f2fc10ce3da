import { models, type Protocol } from '../generated/catalogue.ts';
import type { Sandbox } from './sandbox/sandbox.ts';
import type { ChannelSettings } from './settings.ts';

/** What the embedded upstream can do so far. */
const served: readonly Protocol[] = ['synthesizer', 'multimodal', 'inference', 'realtime', 'customization'];

/** The embedded upstream as channels like any vendor's: it serves whatever no configured channel outranks. */
export function sandboxChannels({ url, wsUrl, key }: Sandbox): ChannelSettings[] {
  const native = models.filter(({ protocols }) => protocols.some((protocol) => served.includes(protocol)));
  return [
    {
      name: 'sandbox',
      protocol: 'native',
      baseUrl: url,
      wsUrl,
      key,
      models: native.map(({ id }) => ({ id, upstream: undefined })),
      groups: undefined,
      priority: 0,
      weight: 1,
      voices: 'catalogue',
      profile: { headers: {}, paths: {} },
    },
  ];
}
