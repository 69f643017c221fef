import com.openai.core.JsonValue;
import com.openai.core.http.StreamResponse;
import com.openai.helpers.ResponseAccumulator;
import com.openai.models.responses.EasyInputMessage;
import com.openai.models.responses.FunctionTool;
import com.openai.models.responses.Response;
import com.openai.models.responses.ResponseCreateParams;
import com.openai.models.responses.ResponseFunctionToolCall;
import com.openai.models.responses.ResponseInputItem;
import com.openai.models.responses.ResponseOutputItem;
import com.openai.models.responses.ResponseStreamEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** `openai-java` as a client of responses. */
final class OpenaiResponses implements Library {
  @Override
  public Talked talk(Access access, String model, String prompt, boolean isStream, boolean withTools) {
    List<ResponseInputItem> input = new ArrayList<>(List.of(user(prompt)));
    List<Call> calls = new ArrayList<>();
    for (int round = 0; round < MAX_ROUNDS; round++) {
      ResponseCreateParams.Builder request = ResponseCreateParams.builder().model(model).inputOfResponse(input);
      if (withTools) request.addTool(weather());
      Response response = answer(access, request.build(), isStream);
      List<ResponseFunctionToolCall> asked = callsOf(response);
      if (asked.isEmpty()) return new Talked(textOf(response), calls);
      calls.addAll(callsIn(response));
      for (ResponseFunctionToolCall call : asked) {
        input.add(ResponseInputItem.ofFunctionCall(call));
        input.add(
            ResponseInputItem.ofFunctionCallOutput(
                ResponseInputItem.FunctionCallOutput.builder().callId(call.callId()).output(TOOL_RESULT).build()));
      }
    }
    throw new IllegalStateException("the conversation does not end");
  }

  @Override
  public Talked ask(Access access, String model, String prompt) {
    Response response = answer(access, ResponseCreateParams.builder().model(model).input(prompt).build(), true);
    return new Talked(textOf(response), callsIn(response));
  }

  private static ResponseInputItem user(String text) {
    return ResponseInputItem.ofEasyInputMessage(
        EasyInputMessage.builder().role(EasyInputMessage.Role.USER).content(text).build());
  }

  private static Response answer(Access access, ResponseCreateParams request, boolean isStream) {
    if (!isStream) return OpenaiChat.client(access).responses().create(request);
    ResponseAccumulator accumulator = ResponseAccumulator.create();
    try (StreamResponse<ResponseStreamEvent> stream = OpenaiChat.client(access).responses().createStreaming(request)) {
      stream.stream().forEach(accumulator::accumulate);
    }
    return accumulator.response();
  }

  private static List<ResponseFunctionToolCall> callsOf(Response response) {
    return response.output().stream()
        .filter(ResponseOutputItem::isFunctionCall)
        .map(ResponseOutputItem::asFunctionCall)
        .toList();
  }

  private static List<Call> callsIn(Response response) {
    return callsOf(response).stream()
        .map((call) -> new Call(call.name(), OpenaiChat.parsed(call.arguments())))
        .toList();
  }

  private static String textOf(Response response) {
    StringBuilder text = new StringBuilder();
    response.output().stream()
        .flatMap((item) -> item.message().stream())
        .flatMap((message) -> message.content().stream())
        .flatMap((content) -> content.outputText().stream())
        .forEach((part) -> text.append(part.text()));
    return text.toString();
  }

  private static FunctionTool weather() {
    FunctionTool.Parameters parameters =
        FunctionTool.Parameters.builder()
            .putAdditionalProperty("type", JsonValue.from("object"))
            .putAdditionalProperty("properties", JsonValue.from(Map.of("city", Map.of("type", "string"))))
            .putAdditionalProperty("required", JsonValue.from(List.of("city")))
            .build();
    return FunctionTool.builder()
        .name(TOOL_NAME)
        .description(TOOL_DESCRIPTION)
        .parameters(parameters)
        .strict(false)
        .build();
  }

  @Override
  public Thrown fail(Access access, String model, boolean isStream) {
    ResponseCreateParams request = ResponseCreateParams.builder().model(model).input("Hi").build();
    return OpenaiChat.thrownBy(() -> answer(access, request, isStream));
  }

  @Override
  public List<String> listModels(Access access) {
    return OpenaiChat.client(access).models().list().autoPager().stream().map((model) -> model.id()).toList();
  }

  @Override
  public String getModel(Access access, String model) {
    return OpenaiChat.client(access).models().retrieve(model).id();
  }
}
