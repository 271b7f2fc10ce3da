import type { FileLinks } from '../../server/media/file-links.ts';

/** Shows files at the addresses that their providers name. */
export const plainLinks: FileLinks = {
  address: undefined,
  relays: () => false,
  shown: (url) => url,
};
