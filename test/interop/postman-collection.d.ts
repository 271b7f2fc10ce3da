/** The members that the tests read. The declarations of the package lack most of them. */
declare module 'postman-collection' {
  interface List<Entry> {
    all(): Entry[];
  }
  export interface Field {
    key: string;
    value?: unknown;
    disabled?: boolean;
  }
  export interface Item {
    name: string;
    request: {
      method: string;
      url: { path?: string[]; query: List<Field>; variables: List<Field>; toString(): string };
      headers: List<Field>;
      body?: { raw?: string; formdata?: List<Field> };
    };
    events: List<{ listen: string; script: { exec: string[] } }>;
    responses: List<{ code: number }>;
    /** The authentication of the item, or of the nearest folder that has one. */
    getAuth(): { type: string; parameters(): { get(key: string): unknown } } | undefined;
  }
  export class Collection {
    constructor(json: unknown);
    variables: List<Field>;
    forEachItem(visit: (item: Item) => void): void;
  }
}
