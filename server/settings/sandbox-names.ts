/** Names of the sandbox's channels, with the protocol of each. */
export const sandboxProtocols = [
  ['sandbox', 'native'],
  ['sandbox-official', 'official'],
  ['sandbox-eta', 'eta'],
  ['sandbox-sigma', 'sigma'],
  ['sandbox-imgjob', 'imgjob'],
  ['sandbox-verification', 'verification'],
  ['sandbox-embeddings', 'embeddings'],
  ['sandbox-messages', 'messages'],
] as const;

const sandboxNames: ReadonlySet<string> = new Set(sandboxProtocols.map(([name]) => name));

/** Whether a channel name is one of the sandbox's channels. No configured channel can have such a name. */
export const isSandboxChannel = (name: string): boolean => sandboxNames.has(name);
