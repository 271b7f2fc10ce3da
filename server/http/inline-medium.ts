import { breath } from '../runtime/breath.ts';

/** So many characters of a text tell whether it is an inline medium. */
export const mediaHead = 256;
const base64 = /^[A-Za-z0-9+/]*=*$/;
const notPrintable = /[^ -~]/;
/** So many pieces are put together before others have a turn: a few megabytes. */
const turn = 64;

/** Whether a text that begins so is a data URL or Base64. */
export function isMediaHead(head: string): boolean {
  return (/^data:/i.test(head) || base64.test(head)) && !notPrintable.test(head);
}

/** A text of a JSON body that is a data URL or Base64, kept in the pieces in which it came. */
export class InlineMedium {
  readonly #head: string;
  /** What came behind the head, as it may stand in JSON. */
  readonly pieces: Buffer[] = [];
  /** The last piece ended behind a backslash, which stands at the end of `pieces` only when this is a medium no more. */
  escaped = false;

  constructor(head: string) {
    this.#head = head;
  }

  /** Takes the next piece, which is not the last one when `open`. False: this is no medium, and the piece is not taken. */
  take(piece: Buffer, open: boolean): boolean {
    let text = (this.escaped ? '\\' : '') + piece.toString('latin1');
    const isEscaped = text.includes('\\');
    if (isEscaped) text = text.replaceAll('\\/', '/');
    const escaped = open && text.endsWith('\\');
    if (escaped) text = text.slice(0, -1);
    if (text.includes('\\') || notPrintable.test(text)) {
      if (this.escaped) this.pieces.push(Buffer.from('\\'));
      return false;
    }
    this.pieces.push(isEscaped ? Buffer.from(text, 'latin1') : piece);
    this.escaped = escaped;
    return true;
  }

  /** The text. Others have their turn in between. */
  async text(): Promise<string> {
    let text = this.#head;
    for (let from = 0; from < this.pieces.length; from += turn) {
      text += Buffer.concat(this.pieces.slice(from, from + turn)).toString('latin1');
      await breath();
    }
    // Whoever looks at it first makes one text of what was put together.
    text.charCodeAt(0);
    await breath();
    return text;
  }
}
