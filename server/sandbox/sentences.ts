/** Longest piece handed to the engine at once, in UTF-16 units, so that no request holds a worker for long. */
const longest = 240;

const sentences = new Intl.Segmenter(undefined, { granularity: 'sentence' });
const words = new Intl.Segmenter(undefined, { granularity: 'word' });

/** Cuts a text into sentences. Joined again they are the text; none is blank unless the whole text is. */
export function splitSentences(text: string): string[] {
  const pieces: string[] = [];
  for (const { segment } of sentences.segment(text)) {
    for (const piece of shorten(segment)) {
      const last = pieces.length - 1;
      const previous = pieces[last];
      // A blank piece is no sentence of its own: it goes to its neighbour.
      if (previous !== undefined && (piece.trim() === '' || previous.trim() === ''))
        pieces[last] = previous + piece;
      else pieces.push(piece);
    }
  }
  return pieces;
}

function shorten(sentence: string): string[] {
  if (sentence.length <= longest) return [sentence];
  const pieces: string[] = [];
  let piece = '';
  for (const { segment } of words.segment(sentence)) {
    for (const part of segment.length > longest ? (segment.match(/.{1,200}/gsu) ?? []) : [segment]) {
      if (piece.length + part.length > longest) {
        pieces.push(piece);
        piece = '';
      }
      piece += part;
    }
  }
  if (piece !== '') pieces.push(piece);
  return pieces;
}
