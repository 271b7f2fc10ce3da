interface Column {
  title: string;
  class?: string;
  /** Only screen readers read the title, such as that of buttons. */
  isHidden?: boolean;
}

/** The head of a table. A text is the title of a column. */
export function TableHead({ columns }: { columns: readonly (string | Column)[] }) {
  return (
    <thead>
      <tr>
        {columns.map((column) => {
          const {
            title,
            class: name,
            isHidden = false,
          }: Column = typeof column === 'string' ? { title: column } : column;
          return (
            <th key={title} scope="col" class={name}>
              {isHidden ? <span class="visually-hidden">{title}</span> : title}
            </th>
          );
        })}
      </tr>
    </thead>
  );
}
