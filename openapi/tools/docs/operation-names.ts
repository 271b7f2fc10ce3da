/** Words of operation ids that are not written in lower case, or in another way. */
const spellings: Readonly<Record<string, string>> = {
  wav: 'WAV',
  model3d: '3D model',
  'open api': 'OpenAPI',
  'async api': 'AsyncAPI',
};

/** Returns a short name of an operation from its id, for example "Create speech". */
export function operationName(id: string): string {
  const words = id
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replace(/\b(wav|model3d|open api|async api)\b/g, (word) => spellings[word] ?? word);
  return words[0]?.toUpperCase() + words.slice(1);
}

/** Titles of the areas, which are the tags of operations. Others are written with a capital. */
const areas: Readonly<Record<string, string>> = {
  models3d: '3D models',
  images: 'Image jobs',
  tokens: 'API keys',
  logs: 'Logs and callbacks',
  verification: 'Identity verification',
  me: 'Own key and usage',
  admin: 'Administration',
};

/** Returns the title of an area. */
export const areaTitle = (tag: string): string => areas[tag] ?? `${tag[0]?.toUpperCase()}${tag.slice(1)}`;
