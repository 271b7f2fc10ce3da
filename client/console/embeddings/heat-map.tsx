import { useMemo } from 'preact/hooks';
import { ScrollRegion } from '../parts/scroll-region.tsx';
import { cosine, type Embedded } from './vectors.ts';

interface HeatMapProps {
  items: readonly Embedded[];
  selected: number;
  onSelect: (index: number) => void;
}

/** More rows than this would not be readable. */
const maxRows = 40;

/** Cosine similarity of each pair of texts, as a table with colored cells. A row is selected by its text. */
export function HeatMap({ items, selected, onSelect }: HeatMapProps) {
  const shown = items.slice(0, maxRows);
  const similarity = useMemo(
    () => shown.map((left) => shown.map((right) => cosine(left.vector, right.vector))),
    [items],
  );
  return (
    <section class="stack" aria-label="Similarity">
      <ScrollRegion class="heat-map" label="Heat map">
        <table>
          <caption class="visually-hidden">Cosine similarity of each pair of texts</caption>
          <thead>
            <tr>
              <td />
              {shown.map((_, column) => (
                <th key={column} scope="col">
                  {column + 1}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map(({ text }, row) => (
              <tr key={row} data-selected={row === selected}>
                <th scope="row">
                  <button type="button" aria-pressed={row === selected} onClick={() => onSelect(row)}>
                    <span class="muted numeric">{row + 1}</span>
                    <span>{text}</span>
                  </button>
                </th>
                {shown.map((_, column) => (
                  <Cell key={column} value={similarity[row]?.[column] ?? 0} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
      {items.length > maxRows && (
        <p class="secondary">The heat map shows the first {maxRows} texts. The neighbors are of all texts.</p>
      )}
    </section>
  );
}

function Cell({ value }: { value: number }) {
  return (
    <td data-negative={value < 0} style={{ '--heat': Math.min(1, Math.abs(value)).toFixed(3) }}>
      {formatSimilarity(value)}
    </td>
  );
}

/** Formats a similarity with two digits, without a sign for zero. */
export const formatSimilarity = (value: number): string => value.toFixed(2).replace('-0.00', '0.00');
