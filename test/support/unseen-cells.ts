const nothingFails = 'It reads nothing that could fail; 500 is documented for what nobody thought of.';

/** Documented answers that no test brings about, by operation, each with its reason. */
export const unseenCells: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  getHomePage: { '500 application/json': nothingFails },
  getDocs: { '500 application/json': nothingFails },
  getDocsFile: { '500 application/json': nothingFails },
  getHealth: { '500 application/json': nothingFails },
  getOpenApiDocument: { '500 application/json': nothingFails },
  getAsyncApiDocument: { '500 application/json': nothingFails },
  getFile: {
    '500 application/json': nothingFails,
    '503 application/json': 'Hundreds of files of one host have to be loaded at a time.',
    '504 application/json': 'A host of files has to be silent for half a minute.',
  },
  downloadVideoContent: { '504 application/json': 'A host of files has to be silent for half a minute.' },
};
