import type { ConfigurationFile } from '../../generated/settings.ts';

/** The protocol of an upstream account. */
export type ChannelProtocol = NonNullable<ConfigurationFile['channels']>[number]['protocol'];
