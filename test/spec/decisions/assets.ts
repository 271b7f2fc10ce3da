import type { Limits } from '../../support/limits.ts';

/** Limits of asset uploads. */
export const assets: Limits = {
  'AssetUpload.url': { maxLength: 4096, pattern: '^[Hh][Tt][Tt][Pp][Ss]?://' },
  'AssetUpload.asset_type': { pattern: '^([Ii][Mm][Aa][Gg][Ee]|[Vv][Ii][Dd][Ee][Oo]|[Aa][Uu][Dd][Ii][Oo])$' },
  'AssetUpload.name': { maxLength: 200 },
  'AssetUpload.group_id': { maxLength: 64, minLength: 1 },
};
