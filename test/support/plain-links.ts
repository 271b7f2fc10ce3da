import type { FileLinks } from '../../server/media/file-links.ts';

/** Shows files at the addresses that their providers name. */
export const plainLinks: FileLinks = {
  baseUrl: undefined,
  relays: () => false,
  publicUrl: (url) => url,
};
