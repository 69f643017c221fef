import com.google.genai.Client;
import com.google.genai.ResponseStream;
import com.google.genai.errors.ApiException;
import com.google.genai.errors.GenAiIOException;
import com.google.genai.types.Content;
import com.google.genai.types.FunctionCall;
import com.google.genai.types.FunctionDeclaration;
import com.google.genai.types.FunctionResponse;
import com.google.genai.types.GenerateContentConfig;
import com.google.genai.types.GenerateContentResponse;
import com.google.genai.types.HttpOptions;
import com.google.genai.types.Model;
import com.google.genai.types.Part;
import com.google.genai.types.Tool;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.StreamSupport;

/** `google-genai` as a client of generate-content. */
final class GoogleGenai implements Library {
  private static final Map<Access, Client> CLIENTS = new ConcurrentHashMap<>();

  private static Client client(Access access) {
    return CLIENTS.computeIfAbsent(
        access,
        (made) ->
            Client.builder()
                .apiKey(made.key())
                .httpOptions(HttpOptions.builder().baseUrl(made.baseUrl()).build())
                .build());
  }

  @Override
  public Talked talk(Access access, String model, String prompt, boolean isStream, boolean withTools) {
    List<Content> contents = new ArrayList<>(List.of(Content.builder().role("user").parts(Part.fromText(prompt)).build()));
    GenerateContentConfig config =
        withTools ? GenerateContentConfig.builder().tools(weather()).build() : GenerateContentConfig.builder().build();
    List<Call> calls = new ArrayList<>();
    for (int round = 0; round < MAX_ROUNDS; round++) {
      List<Part> parts = answer(access, model, contents, config, isStream);
      List<FunctionCall> asked = callsOf(parts);
      if (asked.isEmpty()) return new Talked(textOf(parts), calls);
      calls.addAll(callsIn(parts));
      contents.add(Content.builder().role("model").parts(parts).build());
      contents.add(Content.builder().role("user").parts(asked.stream().map(GoogleGenai::answered).toList()).build());
    }
    throw new IllegalStateException("the conversation does not end");
  }

  @Override
  public Talked ask(Access access, String model, String prompt) {
    List<Content> contents = List.of(Content.builder().role("user").parts(Part.fromText(prompt)).build());
    List<Part> parts = answer(access, model, contents, GenerateContentConfig.builder().build(), true);
    return new Talked(textOf(parts), callsIn(parts));
  }

  private static List<Part> answer(
      Access access, String model, List<Content> contents, GenerateContentConfig config, boolean isStream) {
    if (!isStream) return partsOf(client(access).models.generateContent(model, contents, config));
    List<Part> parts = new ArrayList<>();
    try (ResponseStream<GenerateContentResponse> stream =
        client(access).models.generateContentStream(model, contents, config)) {
      for (GenerateContentResponse response : stream) parts.addAll(partsOf(response));
    }
    return parts;
  }

  private static List<Part> partsOf(GenerateContentResponse response) {
    return response.candidates().orElse(List.of()).stream()
        .limit(1)
        .flatMap((candidate) -> candidate.content().stream())
        .flatMap((content) -> content.parts().orElse(List.of()).stream())
        .toList();
  }

  private static List<FunctionCall> callsOf(List<Part> parts) {
    return parts.stream().flatMap((part) -> part.functionCall().stream()).toList();
  }

  private static List<Call> callsIn(List<Part> parts) {
    return callsOf(parts).stream()
        .map((call) -> new Call(call.name().orElse(""), call.args().orElse(Map.of())))
        .toList();
  }

  private static String textOf(List<Part> parts) {
    StringBuilder text = new StringBuilder();
    parts.stream()
        .filter((part) -> !part.thought().orElse(false))
        .forEach((part) -> text.append(part.text().orElse("")));
    return text.toString();
  }

  private static Part answered(FunctionCall call) {
    FunctionResponse.Builder response =
        FunctionResponse.builder().name(call.name().orElse("")).response(Map.of("output", TOOL_RESULT));
    call.id().ifPresent(response::id);
    return Part.builder().functionResponse(response).build();
  }

  private static Tool weather() {
    Map<String, Object> schema =
        Map.of("type", "object", "properties", Map.of("city", Map.of("type", "string")), "required", List.of("city"));
    return Tool.builder()
        .functionDeclarations(
            FunctionDeclaration.builder()
                .name(TOOL_NAME)
                .description(TOOL_DESCRIPTION)
                .parametersJsonSchema(schema)
                .build())
        .build();
  }

  @Override
  public Thrown fail(Access access, String model, boolean isStream) {
    try {
      ask(access, model, isStream);
    } catch (RuntimeException error) {
      Integer status = error instanceof ApiException service ? service.code() : null;
      boolean isOwn = error instanceof ApiException || error instanceof GenAiIOException;
      return new Thrown(isOwn, status, error.getClass().getSimpleName(), error.getMessage());
    }
    throw new IllegalStateException("nothing was thrown");
  }

  private static void ask(Access access, String model, boolean isStream) {
    List<Content> contents = List.of(Content.builder().role("user").parts(Part.fromText("Hi")).build());
    answer(access, model, contents, GenerateContentConfig.builder().build(), isStream);
  }

  @Override
  public List<String> listModels(Access access) {
    Iterable<Model> models = client(access).models.list(null);
    return StreamSupport.stream(models.spliterator(), false).map(GoogleGenai::idOf).toList();
  }

  @Override
  public String getModel(Access access, String model) {
    return idOf(client(access).models.get(model, null));
  }

  private static String idOf(Model model) {
    return model.name().orElse("").replaceFirst("^models/", "");
  }

  @Override
  public long countTokens(Access access, String model) {
    return client(access).models.countTokens(model, "Hi", null).totalTokens().orElse(0);
  }
}
