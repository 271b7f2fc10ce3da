import { CopyButton } from '../parts/copy-button.tsx';
import { formatCount } from '../parts/numbers.tsx';
import { formatSimilarity } from './heat-map.tsx';
import { cosine, type Embedded, lengthOf, type Vector } from './vectors.ts';

interface NeighborsProps {
  items: readonly Embedded[];
  selected: number;
  onSelect: (index: number) => void;
}

const maxNeighbors = 10;
const shownComponents = 6;

/** The selected text: the texts that are most similar to it, and its vector. */
export function Neighbors({ items, selected, onSelect }: NeighborsProps) {
  const item = items[selected];
  if (item === undefined) return null;
  const neighbors = items
    .map(({ vector }, index) => ({ value: cosine(item.vector, vector), index }))
    .filter(({ index }) => index !== selected)
    .toSorted((left, right) => right.value - left.value)
    .slice(0, maxNeighbors);
  return (
    <section class="card stack" aria-label="Selected text">
      <div>
        <p class="muted">Text {selected + 1}</p>
        <h2>{item.text}</h2>
      </div>
      {neighbors.length > 0 && (
        <div>
          <h3 class="card-title">Nearest neighbors</h3>
          <ol class="neighbors">
            {neighbors.map(({ value, index }) => (
              <li key={index}>
                <button type="button" onClick={() => onSelect(index)}>
                  <span>{items[index]?.text}</span>
                  <span class="numeric">{formatSimilarity(value)}</span>
                  <span class="neighbor-bar" style={{ '--share': `${Math.max(0, value) * 100}%` }} />
                </button>
              </li>
            ))}
          </ol>
        </div>
      )}
      <VectorView vector={item.vector} />
    </section>
  );
}

function VectorView({ vector }: { vector: Vector }) {
  const values = Array.from(vector);
  const largest = Math.max(...values.map(Math.abs)) || 1;
  const path = values.map((value, index) => `M${index + 0.5} 50V${50 - (value / largest) * 48}`).join('');
  const first = values.slice(0, shownComponents).map((value) => value.toFixed(4));
  return (
    <div>
      <div class="row-between">
        <h3>Vector</h3>
        <div class="row secondary">
          <span class="numeric">
            {formatCount(values.length)} dimensions, length {lengthOf(vector).toFixed(3)}
          </span>
          <CopyButton text={JSON.stringify(values)} label="Copy the vector as JSON" />
        </div>
      </div>
      <svg
        class="vector"
        viewBox={`0 0 ${values.length} 100`}
        preserveAspectRatio="none"
        role="img"
        aria-label="Components of the vector"
      >
        <path d={path} vector-effect="non-scaling-stroke" />
      </svg>
      <code class="secondary">
        [{first.join(', ')}
        {values.length > shownComponents && ', …'}]
      </code>
    </div>
  );
}
