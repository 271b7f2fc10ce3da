import type { SelectQueryBuilder } from 'kysely';
import { countRows } from '../statement.ts';

/** Returns a page of the records whose names contain a text. Names are compared here, since engines ignore case differently. */
export async function pageByName<Tables, Table extends keyof Tables>(
  found: SelectQueryBuilder<Tables, Table, { id: number; name: string }>,
  { name, offset, limit }: { name: string; offset: number; limit: number },
): Promise<{ page: { id: number }[]; total: number }> {
  if (name === '') {
    const total = await countRows(found.clearSelect().clearOrderBy());
    return { page: offset >= total ? [] : await found.limit(limit).offset(offset).execute(), total };
  }
  const lowerCase = name.toLowerCase();
  const named = (await found.execute()).filter((one) => one.name.toLowerCase().includes(lowerCase));
  return { page: named.slice(offset, offset + limit), total: named.length };
}
