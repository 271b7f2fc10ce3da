import { UsageError } from '../usage-error.ts';

/** Reads the rows of a CSV text (RFC 4180) as it arrives. @throws UsageError when a quoted field does not end */
export async function* csvRows(chunks: AsyncIterable<string>): AsyncGenerator<string[]> {
  let [row, field, quoted, wasQuote, isEmpty] = [[] as string[], '', false, false, true];
  for await (const chunk of chunks) {
    for (const character of chunk) {
      if (quoted && wasQuote && character !== '"') quoted = false;
      if (quoted) {
        // Two quotes in a quoted field are one.
        if (character === '"' && !wasQuote) wasQuote = true;
        else {
          field += character;
          wasQuote = false;
        }
        continue;
      }
      wasQuote = false;
      if (character === '"' && field === '') [quoted, isEmpty] = [true, false];
      else if (character === ',') {
        row.push(field);
        [field, isEmpty] = ['', false];
      } else if (character === '\n') {
        if (!isEmpty) yield [...row, field];
        [row, field, isEmpty] = [[], '', true];
      } else if (character !== '\r' && character !== '\uFEFF') {
        field += character;
        isEmpty = false;
      }
    }
  }
  if (quoted && !wasQuote) throw new UsageError('the last quoted field of the file does not end.');
  if (!isEmpty) yield [...row, field];
}
