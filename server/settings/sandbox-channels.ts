import { sandboxProtocols } from './sandbox-names.ts';
import { catalogueModels } from './served-models.ts';
import type { ChannelSettings } from './settings.ts';

/** Returns the channels of the sandbox. Priority and weight are the defaults. */
export function sandboxChannels({
  url,
  wsUrl,
  key,
}: Readonly<Record<'url' | 'wsUrl' | 'key', string>>): ChannelSettings[] {
  return sandboxProtocols.map(([name, protocol]) => ({
    name,
    protocol,
    baseUrl: url,
    wsUrl,
    key,
    models: catalogueModels(protocol, '*').map((id) => ({ id, upstream: undefined })),
    groups: undefined,
    priority: 0,
    weight: 1,
    voices: 'catalogue',
    profile: { headers: {}, paths: {} },
    privateFiles: true,
    relayMedia: true,
  }));
}
