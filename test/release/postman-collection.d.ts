/** Only what the tests read: the declarations that the package brings lack most of it. */
declare module 'postman-collection' {
  interface List<Entry> {
    all(): Entry[];
  }
  interface Field {
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
      body?: { raw?: string };
    };
    responses: List<{ code: number }>;
    /** Its own, or that of the folders around it. */
    getAuth(): { type: string; parameters(): { get(key: string): unknown } } | undefined;
  }
  export class Collection {
    constructor(json: unknown);
    variables: List<Field>;
    forEachItem(visit: (item: Item) => void): void;
  }
}
