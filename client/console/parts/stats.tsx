import type { ComponentChildren } from 'preact';

/** Measured values in a row: name -> value with its unit. Undefined values are left out. */
export function Stats({ items }: { items: Readonly<Record<string, ComponentChildren>> }) {
  return (
    <dl class="stats">
      {Object.entries(items).map(
        ([name, value]) =>
          value !== undefined && (
            <div key={name}>
              <dt>{name}</dt>
              <dd class="numeric">{value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}
