const nothingFails = 'It reads nothing that could fail; 500 is documented for what nobody thought of.';

/** Documented answers that the conformance kit does not bring our gateway to, by operation, each with its reason. */
export const unseenCells: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  getHomePage: { '500 application/json': nothingFails },
  getDocs: { '500 application/json': nothingFails },
  getDocsFile: { '500 application/json': nothingFails },
  getHealth: { '500 application/json': nothingFails },
  getOpenApiDocument: { '500 application/json': nothingFails },
  getAsyncApiDocument: { '500 application/json': nothingFails },
  uploadAsset: {
    '404 application/json':
      'It is for a gateway whose configuration has none of the models that take assets.',
  },
  getFile: {
    '500 application/json': nothingFails,
    '503 application/json': 'Hundreds of files of one host have to be loaded at a time.',
    '504 application/json': 'A host of files has to be silent for half a minute.',
  },
  downloadVideoContent: { '504 application/json': 'A host of files has to be silent for half a minute.' },
};

const delivered = 'A receiver has to be there that the gateway may call; test/deliveries/ has one.';

/** Documented events that no dialogue of the conformance kit leads to, each with its reason. */
export const unseenEvents: Readonly<Record<string, string>> = {
  'officialTaskCallback server OfficialTaskCallback': delivered,
  'musicTaskCallback server MusicTaskCallback': delivered,
  'imageJobCallback server ImageJobCallback': delivered,
  'verificationCallback server VerificationCallback':
    'It is the visit of a browser, which the provider sends.',
};
